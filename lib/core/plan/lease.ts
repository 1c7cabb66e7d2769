/** How long a lease holds without renewal. Only a hint: every write of the holder is fenced by the epoch. */
export const LEASE_MILLIS = 120_000;

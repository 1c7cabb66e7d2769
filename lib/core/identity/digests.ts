import { digestOf } from './encode.ts';

/** Digest of a set of record keys: sorted by code unit, so the order of discovery or of answers does not matter. */
export function keysDigest(keys: readonly string[]): string {
  return digestOf(['keys', ...[...keys].sort()]);
}

/** Digest of one frozen slice with everything a consumer acts on; a slice that was altered no longer matches it. */
export function sliceDigest(ordinal: number, tenant: string, entries: readonly (readonly [string, string])[]): string {
  return digestOf(['slice', String(ordinal), tenant, ...entries.flat()]);
}

/**
 * A run's digest is a chain over its batches in order, so that planning, publishing and closing can each build theirs
 * in constant memory and carry it across a crash. Count and digest of each batch go in.
 */
export interface DigestChain {
  readonly batches: number;
  readonly records: number;
  readonly digest: string;
}

export const EMPTY_CHAIN: DigestChain = { batches: 0, records: 0, digest: digestOf(['chain']) };

/** Adds the next batch; the ordinal is the chain's own count, so a gap cannot go unnoticed. */
export function extendChain(chain: DigestChain, records: number, batchKeysDigest: string): DigestChain {
  return {
    batches: chain.batches + 1,
    records: chain.records + records,
    digest: digestOf(['chain', chain.digest, String(chain.batches), String(records), batchKeysDigest]),
  };
}

/** True where two chains agree three ways: batches, records and digest. */
export function sameChain(a: DigestChain, b: DigestChain): boolean {
  return a.batches === b.batches && a.records === b.records && a.digest === b.digest;
}

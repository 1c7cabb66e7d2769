/** Instants are milliseconds since 1970-01-01T00:00:00Z everywhere in core. */
export type EpochMillis = number;

export const DAY_MILLIS = 86_400_000;

const INSTANT = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(\.\d{3})?Z$/;

/** The one spelling we write: `2026-01-01T00:00:00.000Z`. */
export function formatInstant(millis: EpochMillis): string {
  return new Date(millis).toISOString();
}

/**
 * Reads a UTC instant with seconds or milliseconds; undefined for any other spelling, an offset, or a date that no
 * calendar has. Text order is time order for one fixed spelling only, so nothing else is let in (pitfall P15).
 */
export function parseInstant(text: string): EpochMillis | undefined {
  if (!INSTANT.test(text)) return undefined;
  const millis = Date.parse(text);
  if (Number.isNaN(millis)) return undefined;
  // JavaScript rolls 30 February over to March instead of refusing it.
  return formatInstant(millis).slice(0, 19) === text.slice(0, 19) ? millis : undefined;
}

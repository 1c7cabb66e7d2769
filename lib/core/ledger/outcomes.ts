/** What became of one planned record. */
export const OUTCOMES = ['expired', 'deleted', 'undone', 'gone', 'state_changed', 'held', 'absent'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Records by outcome; an outcome that did not occur has no entry. */
export type OutcomeCounts = { readonly [K in Outcome]?: number };

/** Outcomes that mean we changed the record; the rest are skips. */
export const PROCESSED: readonly Outcome[] = ['expired', 'deleted', 'undone', 'gone'];

export function addCounts(a: OutcomeCounts, b: OutcomeCounts): OutcomeCounts {
  const sum: { [K in Outcome]?: number } = { ...a };
  for (const outcome of OUTCOMES) {
    const count = b[outcome];
    if (count !== undefined) sum[outcome] = (sum[outcome] ?? 0) + count;
  }
  return sum;
}

export function countOutcomes(outcomes: readonly Outcome[]): OutcomeCounts {
  const counts: { [K in Outcome]?: number } = {};
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

function sumOf(counts: OutcomeCounts, wanted: (outcome: Outcome) => boolean): number {
  return OUTCOMES.filter(wanted).reduce((sum, outcome) => sum + (counts[outcome] ?? 0), 0);
}

export function processedCount(counts: OutcomeCounts): number {
  return sumOf(counts, (outcome) => PROCESSED.includes(outcome));
}

/** Skips only; abandoned and cancelled units are counted by their state, not here. */
export function skippedCount(counts: OutcomeCounts): number {
  return sumOf(counts, (outcome) => !PROCESSED.includes(outcome));
}

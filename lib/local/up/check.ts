import type { QueueDepth } from '../../core/ports/queue.ts';
import type { RunDetailView } from '../../core/views.ts';
import type { Item } from '../records.ts';
import { type ExpectedRow, type ExpectedTotals, expectedTenants, expectedTotals } from './expected.ts';
import { ATTRIBUTES } from './policy.ts';
import type { Case } from './verdict.ts';

/** From the start of the first write to the end of the last, by this machine's clock. */
export interface Span {
  readonly from: number;
  readonly until: number;
}

/** Compares every row of the table with what must be in it; one sentence for each row that differs. */
export async function compareRows(
  found: AsyncIterable<Item> | Iterable<Item>,
  expected: ReadonlyMap<string, ExpectedRow>,
  span: Span,
): Promise<readonly string[]> {
  const differences: string[] = [];
  const missing = new Set(expected.keys());
  for await (const item of found) {
    const id = item[ATTRIBUTES.key]?.S ?? '';
    const row = expected.get(id);
    if (row === undefined) differences.push(`${id}: is in the table and should not be`);
    else differences.push(...compareRow(id, item, row, span));
    missing.delete(id);
  }
  return [...differences, ...[...missing].map((id) => `${id}: is not in the table any more`)];
}

function compareRow(id: string, found: Item, row: ExpectedRow, span: Span): readonly string[] {
  const differences: string[] = [];
  let rest = found;
  if (row.kind === 'expired') {
    const { [ATTRIBUTES.expiredAt]: at, ...others } = found;
    rest = others;
    if (!isWithin(at, span)) {
      differences.push(`${id}: ${ATTRIBUTES.expiredAt} is ${say(at)} and should be a time of this run`);
    }
  }
  for (const name of new Set([...Object.keys(row.item), ...Object.keys(rest)])) {
    const [is, should] = [say(rest[name]), say(row.item[name])];
    if (is !== should) differences.push(`${id}: ${name} is ${is} and should be ${should}`);
  }
  return differences;
}

/** An instant as text or, in whole seconds rounded down, as a number. */
function isWithin(at: Item[string] | undefined, { from, until }: Span): boolean {
  const [millis, step] = at?.N === undefined ? [Date.parse(at?.S ?? ''), 1] : [Number(at.N) * 1_000, 1_000];
  return millis > from - step && millis <= until;
}

/** Compares a run's own counts with those that must come out, in all and by tenant. */
export function compareTotals(
  run: RunDetailView,
  cases: readonly Case[],
  effect: 'carried-out' | 'none',
): readonly string[] {
  const differences = compareCounts('the run', run, expectedTotals(cases, effect));
  const tenants = expectedTenants(cases, effect);
  const reports = new Map(run.tenantReports.map((report) => [report.tenant, report]));
  for (const tenant of new Set([...tenants.keys(), ...reports.keys()])) {
    const { unreadable: _, ...expected } = tenants.get(tenant) ?? NOTHING;
    differences.push(...compareCounts(`tenant ${tenant}`, reports.get(tenant) ?? NOTHING, expected));
  }
  return differences;
}

const NOTHING: ExpectedTotals = { discovered: 0, planned: 0, held: 0, unreadable: 0, outcomes: {} };

type Counts = Readonly<Record<string, unknown>>;

/** One sentence for each count that is not what it should be. */
export function compareCounts(whose: string, found: object, expected: object): string[] {
  return Object.entries(expected).flatMap(([name, should]) => {
    const is = (found as Counts)[name];
    return say(is) === say(should) ? [] : [`${whose}: ${name} is ${say(is)} and should be ${say(should)}`];
  });
}

/** In one spelling: the order of an object's entries says nothing. */
function say(value: unknown): string {
  if (value === undefined) return 'missing';
  return JSON.stringify(value, (_, part: unknown) =>
    part instanceof Object && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

/** Compares a run's status, its proof and the queues with those of a run that ended well. */
export function compareEnd({ mode, status, proof, refusals }: RunDetailView, depth: QueueDepth): readonly string[] {
  const wanted = mode === 'enforce' ? 'complete' : 'reported';
  const published = mode === 'enforce' && status !== 'refused';
  return [
    ...(status === wanted ? [] : [`the run is ${status} and should be ${wanted}`]),
    ...refusals.map(({ message }) => `refused: ${message}`),
    ...(published && !proof.holds ? ['the proof of completeness does not hold'] : []),
    ...(depth.work === 0 ? [] : [`${depth.work} messages are in the work queue`]),
    ...(depth.deadLetter === 0 ? [] : [`${depth.deadLetter} messages are in the dead-letter queue`]),
  ];
}

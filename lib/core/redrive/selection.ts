import { digestOf } from '../identity/encode.ts';
import type { EpochMillis } from '../identity/instant.ts';
import { compareUnits } from '../identity/keys.ts';
import type { RunItem, SelectedUnit, Selection } from '../ledger/items.ts';
import { RefusedRequest } from '../plan/request.ts';
import type { Clock, Ledger, OpenUnit } from '../ports/index.ts';
import { everyItem } from '../read/pages.ts';
import { mayHaveNext } from './generations.ts';
import { sayReceived } from './received.ts';
import type { Choice, UnitFilter } from './request.ts';
import type { LeftOut } from './views.ts';

/** Units that one selection may hold: its item stays far under 400 KB. */
export const SELECTION_LIMIT = 10_000;

const HOUR_MILLIS = 3_600_000;

/** What of the quarantine may be chosen beside what the filter says. */
export interface Eligibility {
  /** Units that failed for good are chosen only where something names them. */
  readonly permanent: 'only-if-named' | 'allowed';
  readonly beyondGenerations: 'refused' | 'allowed';
  readonly cancelledRuns: 'left-out' | 'allowed';
}

export interface Chosen {
  readonly selection: Selection;
  readonly leftOut: LeftOut;
  readonly truncated: boolean;
}

/** The digest of a selection: of its act and of its units in their order. */
export function selectionDigest({ act, units }: Pick<Selection, 'act' | 'units'>): string {
  return digestOf([
    'selection',
    act,
    ...units.flatMap(({ runId, unit, generation }) => [runId, unit, String(generation)]),
  ]);
}

export function matches(unit: OpenUnit, filter: UnitFilter, now: EpochMillis): boolean {
  const { run, tenant, reason, errorClass, olderThanHours } = filter;
  return (
    (run === undefined || unit.runId === run) &&
    (filter.unit === undefined || unit.unit === filter.unit) &&
    (tenant === undefined || unit.tenant === tenant) &&
    (reason === undefined || unit.reason === reason) &&
    (errorClass === undefined || unit.errorClass === errorClass) &&
    (olderThanHours === undefined || now - unit.since > olderThanHours * HOUR_MILLIS)
  );
}

/** True where the filter says of what kind the units are, and not only where to look for them. */
function names({ unit, reason, errorClass }: UnitFilter): boolean {
  return unit !== undefined || reason !== undefined || errorClass !== undefined;
}

/** Reads each run once; selections are mostly of one or two. */
class Runs {
  readonly #ledger: Ledger;
  readonly #read = new Map<string, Promise<RunItem | undefined>>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  of(runId: string): Promise<RunItem | undefined> {
    const run = this.#read.get(runId) ?? this.#ledger.readRun(runId);
    this.#read.set(runId, run);
    return run;
  }
}

/** What holds a unit back whatever names it: of a run that goes nowhere any more, or at its last generation. */
export function heldBack(
  run: RunItem | undefined,
  generation: number,
  { beyondGenerations, cancelledRuns }: Eligibility,
): 'cancelledRun' | 'generations' | undefined {
  if (run === undefined) return undefined;
  if (run.status === 'cancelled' && cancelledRuns === 'left-out') return 'cancelledRun';
  const capped = beyondGenerations === 'refused' && !mayHaveNext(generation, run.settings.redriveGenerations);
  return capped ? 'generations' : undefined;
}

async function whyNot(
  unit: OpenUnit,
  runs: Runs,
  named: boolean,
  eligibility: Eligibility,
): Promise<keyof LeftOut | undefined> {
  if (unit.failureClass === 'permanent' && eligibility.permanent === 'only-if-named' && !named) return 'permanent';
  return heldBack(await runs.of(unit.runId), unit.generation, eligibility);
}

/** Goes over the quarantine once; what arrives later is in no selection that was made before. */
async function select(
  ports: { readonly ledger: Ledger; readonly clock: Clock },
  policyId: string,
  act: Selection['act'],
  filter: UnitFilter,
  eligibility: Eligibility,
): Promise<Chosen> {
  const now = ports.clock.now();
  const runs = new Runs(ports.ledger);
  const leftOut = { permanent: 0, generations: 0, cancelledRun: 0 };
  const units: SelectedUnit[] = [];
  let truncated = false;
  for await (const unit of everyItem((cursor) => ports.ledger.openUnits({ state: 'quarantined' }, cursor))) {
    if (!matches(unit, filter, now)) continue;
    const because = await whyNot(unit, runs, names(filter), eligibility);
    if (because !== undefined) {
      leftOut[because] += 1;
    } else if (units.length < SELECTION_LIMIT) {
      units.push({ runId: unit.runId, unit: unit.unit, generation: unit.generation });
    } else {
      truncated = true;
    }
  }
  units.sort((a, b) => (a.runId === b.runId ? compareUnits(a.unit, b.unit) : a.runId < b.runId ? -1 : 1));
  const digest = selectionDigest({ act, units });
  return { selection: { policyId, act, digest, at: now, units }, leftOut, truncated };
}

export const NOTHING_LEFT_OUT: LeftOut = { permanent: 0, generations: 0, cancelledRun: 0 };

/** The units of a choice, frozen in the ledger; a selection that was frozen before is taken as it is. */
export async function choose(
  ports: { readonly ledger: Ledger; readonly clock: Clock },
  policyId: string,
  act: Selection['act'],
  choice: Choice,
  eligibility: Eligibility,
): Promise<Chosen> {
  if (choice.kind !== 'selection') {
    const chosen = await select(ports, policyId, act, choice.kind === 'all' ? {} : choice.filter, eligibility);
    await ports.ledger.putSelection(chosen.selection);
    return chosen;
  }
  const selection = await ports.ledger.readSelection(policyId, choice.digest);
  if (selection === undefined || selectionDigest(selection) !== choice.digest) {
    const what = selection === undefined ? 'is in the ledger' : 'is whole';
    return refuse(choice.digest, `No selection of this digest ${what}. Make one with a dry run.`);
  }
  // What failed for good may be given up with all the rest, but comes back only where something named it.
  if (selection.act !== act)
    return refuse(choice.digest, `This selection was made to ${selection.act}, not to ${act}.`);
  return { selection, leftOut: NOTHING_LEFT_OUT, truncated: false };
}

function refuse(digest: string, message: string): never {
  const received = sayReceived(digest);
  throw new RefusedRequest([{ parameter: 'selection', received, message: `${message} Received ${received}.` }]);
}

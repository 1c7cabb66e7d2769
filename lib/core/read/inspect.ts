import { NO_COST } from '../cost/cost.ts';
import { formatInstant } from '../identity/instant.ts';
import { ordinalOf, positionOf } from '../identity/keys.ts';
import type { RunItem, Slice, UnitItem } from '../ledger/items.ts';
import type { Clock, Ledger } from '../ports/index.ts';
import { mayHaveNext } from '../redrive/generations.ts';
import type { AuditEntryView, InspectView } from '../redrive/views.ts';
import { viewUnit } from '../views.ts';
import { viewEntry } from './audit.ts';
import { everyItem } from './pages.ts';
import { ageHours, messageExpiresAt } from './quarantine.ts';

const KEYS_SHOWN = 25;

function keysOf(slice: Slice | undefined, unit: string): readonly string[] {
  const position = positionOf(unit);
  const entries = slice?.entries ?? [];
  return (position === undefined ? entries : entries.slice(position, position + 1)).map(({ key }) => key);
}

/** Of a unit that waits in the ledger: when it goes on, for nothing brings it forward. */
function sayDue({ state, notBefore }: UnitItem): string {
  if (state !== 'planned' || notBefore === undefined) return '';
  return ` It is sent at ${formatInstant(notBefore)} or within minutes after, unless the policy is paused.`;
}

function redriveOf(run: RunItem, unit: UnitItem): InspectView['redrive'] {
  const { redriveGenerations } = run.settings;
  if (unit.state !== 'quarantined') {
    return {
      verdict: 'not-quarantined',
      message: `The unit is ${unit.state}: there is nothing to redrive.${sayDue(unit)}`,
    };
  }
  if (run.status === 'cancelled') {
    return { verdict: 'run-cancelled', message: 'The run was cancelled: its units can only be abandoned.' };
  }
  if (!mayHaveNext(unit.generation, redriveGenerations)) {
    const had = `It had ${unit.generation + 1} generations, and a redrive goes up to ${redriveGenerations}`;
    const message = `${had}: one more takes --beyond-generation-cap, or beyondGenerations in an event.`;
    return { verdict: 'beyond-generations', message };
  }
  if (unit.failureClass === 'permanent') {
    const message = 'It failed for good: mend the cause, then name the unit, its reason or its error class.';
    return { verdict: 'name-it', message };
  }
  return { verdict: 'allowed', message: 'A redrive needs a name and a reason.' };
}

async function actsOn(ledger: Ledger, runId: string, unit: string): Promise<readonly AuditEntryView[]> {
  const acts: AuditEntryView[] = [];
  for await (const entry of everyItem((cursor) => ledger.auditTrail({ kind: 'run', runId }, cursor))) {
    if (entry.units.includes(unit)) acts.push(viewEntry(entry));
  }
  return acts;
}

/** One unit with everything that a person needs to decide; undefined where the ledger has no item of it. */
export async function inspectUnit(
  { ledger, clock }: { readonly ledger: Ledger; readonly clock: Clock },
  runId: string,
  name: string,
): Promise<InspectView | undefined> {
  const [loaded] = await ledger.load([{ runId, unit: name }]);
  const { run, slice, unit } = loaded ?? {};
  if (run === undefined || unit === undefined || (slice !== undefined && slice.ordinal !== ordinalOf(name))) {
    return undefined;
  }
  const keys = keysOf(slice, name);
  const expires = messageExpiresAt(unit);
  const { status, kind, policyVersion, cutoff } = run;
  return {
    unit: viewUnit(unit),
    run: { runId, status, kind, mode: run.settings.mode, policyVersion, cutoff: formatInstant(cutoff) },
    ageHours: ageHours(unit.since, clock.now()),
    messageExpiresAt: expires === undefined ? null : formatInstant(expires),
    cost: unit.cost ?? NO_COST,
    split: unit.split ?? [],
    keys: keys.slice(0, KEYS_SHOWN),
    keysTruncated: keys.length > KEYS_SHOWN,
    redrive: redriveOf(run, unit),
    acts: await actsOn(ledger, runId, name),
  };
}

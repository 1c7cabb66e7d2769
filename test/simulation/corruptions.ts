import type { RunItem, UnitItem } from '../../lib/core/ledger/items.ts';
import type { RecordWrite } from '../model/index.ts';
import {
  altered,
  andThen,
  type Corruption,
  happening,
  inLedger,
  ofComplete,
  run,
  slice,
  unit,
  untold,
  write,
} from './corrupt.ts';

const expiry = ({ before, after }: RecordWrite) => before !== undefined && after !== undefined;
const deletion = ({ after }: RecordWrite) => after === undefined;
const complete = ({ status }: RunItem) => status === 'complete';
const committed = ({ state }: UnitItem) => state === 'committed';
const skipping = (unit: UnitItem) => committed(unit) && (unit.exceptions?.state_changed?.length ?? 0) > 0;

/** What is made untrue, how, and what the checker must say of it. */
export const CORRUPTIONS: readonly (readonly [what: string, corruption: Corruption, sentence: RegExp])[] = [
  [
    'a skip counted as processed',
    unit(skipping, (one) => ({ ...one, exceptions: {}, counts: { expired: one.records } })),
    /counts \d+ records as processed that were not written/,
  ],
  [
    'a processed record listed as skipped',
    unit(
      (one) => committed(one) && one.records === 1 && one.counts?.expired === 1,
      (one) => ({ ...one, exceptions: { state_changed: [0] }, counts: { state_changed: 1 } }),
    ),
    /counts as state_changed in .* and was written|closed with/,
  ],
  [
    'a record with two outcomes',
    unit(skipping, (one) => ({ ...one, exceptions: { ...one.exceptions, held: one.exceptions?.state_changed ?? [] } })),
    /has two outcomes/,
  ],
  [
    'a record called absent that always was there',
    unit(skipping, ({ exceptions, counts, ...one }) => ({
      ...one,
      exceptions: { absent: exceptions?.state_changed ?? [] },
      counts: { ...counts, state_changed: 0, absent: counts?.state_changed ?? 0 },
    })),
    /is absent in .* and always was there|closed with/,
  ],
  [
    'a unit that is not there',
    ofComplete(
      ({ unit }) => !unit.includes('.'),
      () => undefined,
    ),
    /has no item and its run is/,
  ],
  [
    'a unit that accounts for other keys',
    unit(committed, (one) => ({ ...one, keysDigest: 'other' })),
    /does not account for exactly its keys/,
  ],
  [
    'a split record that is gone',
    unit(
      ({ unit }) => unit.includes('.'),
      () => undefined,
    ),
    /names .* as split and has/,
  ],
  [
    'a unit that waits and does not say why',
    unit(committed, ({ reason: _reason, ...one }) => ({ ...one, state: 'quarantined' })),
    /is quarantined and does not say why/,
  ],
  [
    'a run that is complete with a unit open',
    ofComplete(committed, (one) => ({ ...one, state: 'quarantined' })),
    /is complete with \d+ records open/,
  ],
  ['a unit under way at rest', unit(committed, (one) => ({ ...one, state: 'published' })), /is published at rest/],
  ['a run that is not over', run(complete, (one) => ({ ...one, status: 'draining' })), /is draining at rest/],
  [
    'a count that was changed',
    run(
      ({ status, closing }) => status === 'complete' && closing !== undefined,
      (one) => ({ ...one, ...(one.closing && { closing: { ...one.closing, processed: one.closing.processed + 1 } }) }),
    ),
    /closed with processed \d+ where its units hold \d+/,
  ],
  [
    'a terminal digest of something else',
    run(complete, (one) => ({ ...one, ...(one.closing && { closing: { ...one.closing, digest: 'other' } }) })),
    /terminal digest .* is not that of its batches/,
  ],
  [
    'a published digest of something else',
    run(complete, (one) => ({ ...one, ...(one.published && { published: { ...one.published, digest: 'other' } }) })),
    /what .* published is not what it planned/,
  ],
  [
    'a discovery that does not add up',
    run(complete, (one) => ({ ...one, ...(one.plan && { plan: { ...one.plan, discovered: 999 } }) })),
    /discovered 999, not/,
  ],
  ['a cutoff that moved', run(complete, (one) => ({ ...one, cutoff: one.cutoff + 1 })), /the cutoff of .* is not/],
  ['a slice that is gone', slice(() => undefined), /slice 0 of the frozen plan of .* is not in the ledger/],
  [
    'a slice without one of its records',
    slice((one) => ({ ...one, entries: one.entries.slice(1) })),
    /slice 0 of .* does not match its keys/,
  ],
  [
    'a slice whose witness was changed',
    slice((one) => ({ ...one, entries: one.entries.map((entry) => ({ ...entry, witness: 'S:other' })) })),
    /slice 0 of .* does not match its digest/,
  ],
  [
    'a tenant with other counts',
    (evidence) => {
      const done = new Set(evidence.ledger.runs.filter(complete).map(({ runId }) => runId));
      return inLedger(
        'tenants',
        ({ runId }) => done.has(runId),
        (report) => ({ ...report, planned: report.planned + 1 }),
      )(evidence);
    },
    /reports \d+ planned of .* where its slices hold \d+/,
  ],
  [
    'a write that was made twice',
    (evidence) => evidence.writes[0] && { ...evidence, writes: [...evidence.writes, evidence.writes[0]] },
    /was changed twice by one operation/,
  ],
  [
    'a write under another key',
    write(expiry, (one) => ({ ...one, operationKey: 'other' })),
    /was written under a key that no plan gives it/,
  ],
  [
    'a record that does not carry its key',
    write(expiry, (one) => ({ ...one, after: { ...one.after, sweepOperationKey: 'other' } })),
    /does not carry its operation key/,
  ],
  [
    'a held record that was written',
    write(expiry, (one) => ({ ...one, before: { ...one.before, hold: 'legal' } })),
    /was held and was written/,
  ],
  [
    'a record that was active again and was written',
    write(expiry, (one) => ({ ...one, before: { ...one.before, lastActivity: '2026-01-01T00:00:00.000Z' } })),
    /was active again and was written/,
  ],
  [
    'a record in another state that was written',
    write(expiry, (one) => ({ ...one, before: { ...one.before, status: 'CLOSED' } })),
    /was not in the eligible state and was written/,
  ],
  [
    'a record that was absent and was written',
    write(expiry, ({ before: _before, ...one }) => ({ ...one, before: undefined })),
    /was removed and came back/,
  ],
  [
    'a write that changed something else',
    write(expiry, (one) => ({ ...one, after: { ...one.after, tenant: 'other' } })),
    /the write of .* changed its tenant/,
  ],
  [
    'a deletion of what somebody else expired',
    write(deletion, (one) => ({ ...one, before: { ...one.before, sweepOperationKey: 'other' } })),
    /was deleted and was not expired by us/,
  ],
  [
    'a deletion of what was not expired',
    write(deletion, (one) => ({ ...one, before: { ...one.before, status: 'ACTIVE' } })),
    /was deleted and was not expired/,
  ],
  [
    'a record that nobody is known to have changed',
    (evidence) => {
      const rows = altered(
        evidence.rows,
        () => true,
        (row) => ({ ...row, status: 'EXPIRED' }),
      );
      return rows && { ...evidence, rows };
    },
    /is not as anybody left it/,
  ],
  [
    'an audit entry that is gone',
    inLedger(
      'audit',
      () => true,
      () => undefined,
    ),
    /the trail of .* has \d+ entries/,
  ],
  [
    'an audit entry with another reason',
    inLedger(
      'audit',
      () => true,
      (one) => ({ ...one, entry: { ...one.entry, reason: 'another' } }),
    ),
    /is not what was written/,
  ],
  [
    'an audit entry that is chained to another',
    inLedger(
      'audit',
      ({ entry }) => entry.number > 0,
      (one) => ({ ...one, entry: { ...one.entry, previousHash: 'other' } }),
    ),
    /is not chained to the one before it/,
  ],
  [
    'a selection with one unit less',
    inLedger(
      'selections',
      ({ units }) => units.length > 0,
      (one) => ({ ...one, units: one.units.slice(1) }),
    ),
    /is not what its digest says/,
  ],
  [
    'a redrive that no trail tells of',
    untold(
      'redrive',
      (move) => move.kind === 'unit' && move.edge === 'redrive',
      (move, { entry, scope }) =>
        move.kind === 'unit' && move.after.runId === scope && entry.units.includes(move.after.unit),
    ),
    /was redriven \d+ times/,
  ],
  [
    'an abandoned unit that nobody abandoned',
    untold(
      'abandon',
      (move) => move.kind === 'unit' && move.edge === 'abandon',
      (move, { entry, scope }) =>
        move.kind === 'unit' && move.after.runId === scope && entry.units.includes(move.after.unit),
    ),
    /nobody abandoned unit/,
  ],
  [
    'a cancelled run that nobody cancelled',
    untold(
      'cancel',
      (move) => move.kind === 'run' && move.before.status !== 'cancelled' && move.after.status === 'cancelled',
      (move, { scope }) => move.kind === 'run' && move.after.runId === scope,
    ),
    /nobody cancelled/,
  ],
  [
    'a pause that no trail tells of',
    untold(
      'pause',
      (move) => move.kind === 'control' && move.after.pause !== undefined,
      () => true,
    ),
    /nobody told the trail of a pause/,
  ],
  [
    'a target call in a pause',
    andThen(
      (one) => one.kind === 'control' && one.after.pause !== undefined,
      ({ at }) => ({ kind: 'call', at: at + 10_001, operationKeys: [] }),
    ),
    /the target was called while the policy was paused/,
  ],
  [
    'a target call of a cancelled run',
    (evidence) => {
      const [one] = evidence.writes;
      const moves = evidence.happenings.findLast((move) => move.kind === 'call');
      const cancelled = evidence.ledger.runs.find(
        ({ status, plan }) => status === 'cancelled' && (plan?.records ?? 0) > 0,
      );
      const call = evidence.happenings.find(
        (move) => move.kind === 'unit' && move.after.runId === cancelled?.runId && move.after.state === 'in_progress',
      );
      const theirs = evidence.happenings.find((move) => move.kind === 'call' && move.at >= (call?.at ?? Number.NaN));
      if (one === undefined || moves === undefined || theirs?.kind !== 'call') return undefined;
      return { ...evidence, happenings: [...evidence.happenings, { ...theirs, at: Number.MAX_SAFE_INTEGER }] };
    },
    /the target was called for .*, which is cancelled/,
  ],
  [
    'a message acknowledged with its unit under way',
    happening(
      'acknowledged',
      ({ unit, badMessage, run }) => unit?.state === 'committed' && !badMessage && run?.status !== 'cancelled',
      ({ unit, ...one }) => {
        const { notBefore: _notBefore, ...rest } = unit ?? {};
        return { ...one, unit: { ...(rest as UnitItem), state: 'in_progress' } };
      },
    ),
    /a message was acknowledged before its unit was accounted for/,
  ],
  [
    'a message that left before its plan was frozen',
    happening(
      'sent',
      ({ run }) => run !== undefined,
      ({ run, ...one }) => ({ ...one, run: run && { ...run, status: 'planning' } }),
    ),
    /is planning and published/,
  ],
  [
    'a frozen plan that was changed',
    happening(
      'run',
      ({ before, after }) => before.status === 'publishing' && after.plan !== undefined,
      ({ after, ...one }) => ({ ...one, after: { ...after, frozenAt: 1 } }),
    ),
    /the frozen plan of .* was changed/,
  ],
  [
    'a checkpoint that moved backwards',
    happening(
      'run',
      ({ before }) => before.checkpoint.nextOrdinal > 0 && before.status !== 'refused',
      ({ after, ...one }) => ({ ...one, after: { ...after, checkpoint: { ...after.checkpoint, nextOrdinal: 0 } } }),
    ),
    /a checkpoint of .* moved backwards/,
  ],
  [
    'a committed unit that went on',
    andThen(
      (one) => one.kind === 'unit' && one.after.state === 'committed',
      (one) =>
        one.kind === 'unit' ? { ...one, before: one.after, after: { ...one.after, state: 'in_progress' } } : one,
    ),
    /went from committed to in_progress/,
  ],
  [
    'a run that went on after its end',
    andThen(
      (one) => one.kind === 'run' && one.after.status === 'complete',
      (one) => (one.kind === 'run' ? { ...one, before: one.after, after: { ...one.after, status: 'draining' } } : one),
    ),
    /went from complete to draining/,
  ],
  ['a proof that did not hold', (evidence) => ({ ...evidence, mismatches: 1 }), /a proof does not hold/],
];

import type { RunKind } from '../../lib/core/identity/keys.ts';
import type { Settings } from '../../lib/core/policy/settings.ts';
import { writeTimestamp } from '../../lib/core/policy/timestamp.ts';
import {
  type Failure,
  PortError,
  type RecordResult,
  type Target,
  type TargetCall,
  type WorkItem,
} from '../../lib/core/ports/index.ts';
import { expiryWitnessOf, idOfKey, isHeld, type MemoryRecords, type Row, witnessOf } from './records.ts';
import type { World } from './world.ts';

/**
 * The record's own condition: each clause is judged alone, so that a test can see what each of them is for. For a
 * deletion the state is the expired one, the timestamp that of the expiry, and the key that of the run that expired it.
 */
export const CLAUSES = ['exists', 'state', 'timestamp', 'hold', 'operation-key'] as const;
export type Clause = (typeof CLAUSES)[number];

export interface TargetOptions {
  readonly recordsPerCall: number;
  /** A clause that the write leaves out: the mutant of a test. */
  readonly without?: Clause | undefined;
  /** Which kind of write leaves it out; both where absent. */
  readonly withoutOf?: RunKind | undefined;
  /** Chance that an entry fails inside a successful answer, its write not done. */
  readonly entryFails: number;
  /** Chance that an entry is reported as failed although its write was done. */
  readonly entryAnswerLost: number;
  /** Chance that the call as a whole fails after some of its writes were done. */
  readonly callBreaksOff: number;
}

const DEFAULTS: TargetOptions = { recordsPerCall: 2, entryFails: 0, entryAnswerLost: 0, callBreaksOff: 0 };

const THROTTLED: Failure = { class: 'transient', error: 'ThrottlingError' };

/** The record table as a target: independently conditional writes, errors per entry inside success, in any order. */
export class MemoryTarget implements Target {
  readonly idempotency = 'idempotent';
  readonly recordsPerCall: number;
  readonly #world: World;
  readonly #records: MemoryRecords;
  #options: TargetOptions;
  /** Called at the beginning of every call, before anything is written. */
  onCall: (call: TargetCall) => void = () => {};
  readonly #poisoned = new Map<string, { readonly failure: Failure; left: number }>();

  constructor(world: World, records: MemoryRecords, options: Partial<TargetOptions> = {}) {
    this.#world = world;
    this.#records = records;
    this.#options = { ...DEFAULTS, ...options };
    this.recordsPerCall = this.#options.recordsPerCall;
  }

  /** From now on so many writes of this record fail so; as a rule all of them. */
  poison(id: string, failure: Failure, times = Number.POSITIVE_INFINITY): void {
    this.#poisoned.set(id, { failure, left: times });
  }

  /** Ends all failures that are drawn by chance. */
  calm(): void {
    this.#options = { ...this.#options, entryFails: 0, entryAnswerLost: 0, callBreaksOff: 0 };
  }

  heal(id: string): void {
    this.#poisoned.delete(id);
  }

  healAll(): void {
    this.#poisoned.clear();
  }

  async apply(call: TargetCall): Promise<readonly RecordResult[]> {
    refuseMalformed(call, this.recordsPerCall);
    this.onCall(call);
    const { random } = this.#world;
    const breakOff = random.chance(this.#options.callBreaksOff) ? random.below(call.items.length + 1) : undefined;
    const results: RecordResult[] = [];
    for (const [position, item] of random.shuffled(call.items).entries()) {
      if (position === breakOff) {
        if (position > 0) this.#world.note('target call broke off half-way');
        throw new PortError('apply', { class: 'transient', error: 'TimeoutError' });
      }
      results.push(this.#entry(call, item));
    }
    return results;
  }

  #entry(call: TargetCall, item: WorkItem): RecordResult {
    const { random } = this.#world;
    const poison = this.#poisoned.get(idOfKey(item.key));
    if (poison !== undefined && poison.left > 0) {
      poison.left -= 1;
      return { kind: 'failed', key: item.key, failure: poison.failure };
    }
    const failed: RecordResult = { kind: 'failed', key: item.key, failure: THROTTLED };
    if (random.chance(this.#options.entryFails)) {
      this.#world.note('target entry failed');
      return failed;
    }
    const result = this.#transition(call, item);
    if (!random.chance(this.#options.entryAnswerLost)) return result;
    if (result.kind === 'outcome' && result.applied === 'now') this.#world.note('target entry failed but was written');
    return failed;
  }

  #transition(call: TargetCall, item: WorkItem): RecordResult {
    const { settings, now, kind } = call;
    const id = idOfKey(item.key);
    const before = this.#records.row(id);
    const { without, withoutOf = kind } = this.#options;
    const failed = CLAUSES.filter((clause) => clause !== without || withoutOf !== kind).some((clause) =>
      kind === 'delete' ? !holdsForDeletion(clause, before, item, settings) : !holds(clause, before, item, settings),
    );
    if (failed) return kind === 'delete' ? keptFromDeletion(before, item, settings) : refusal(before, item, settings);
    if (kind === 'delete') {
      const { key, operationKey, witness: planned } = item;
      if (before !== undefined) this.#records.write({ key, before, after: undefined, operationKey, planned });
      return { kind: 'outcome', key, outcome: 'deleted', applied: 'now' };
    }
    const expiredAt = writeTimestamp(now, settings.timestampFormat);
    const after = {
      ...(before ?? { [settings.partitionKeyAttribute]: id }),
      [settings.stateAttribute]: settings.expiredState,
      [settings.expiredAtAttribute]: expiredAt.type === 'N' ? Number(expiredAt.text) : expiredAt.text,
      [settings.operationKeyAttribute]: item.operationKey,
    };
    this.#records.write({ key: item.key, before, after, operationKey: item.operationKey, planned: item.witness });
    return { kind: 'outcome', key: item.key, outcome: 'expired', applied: 'now' };
  }
}

/** As BatchExecuteStatement does, the whole call is refused for one item named twice. */
function refuseMalformed(call: TargetCall, limit: number): void {
  const keys = new Set(call.items.map((item) => item.key));
  const legal = call.kind !== 'undo' && call.items.length >= 1 && call.items.length <= limit;
  if (!legal || keys.size !== call.items.length) {
    throw new PortError('apply', { class: 'permanent', error: 'ValidationException' });
  }
}

/** Only `exists` looks at whether there is a record, else the other clauses would hide that it was left out. */
function holds(clause: Clause, row: Row | undefined, item: WorkItem, settings: Settings): boolean {
  if (row === undefined) return clause !== 'exists';
  switch (clause) {
    case 'exists':
      return true;
    case 'state':
      return row[settings.stateAttribute] === settings.eligibleState;
    case 'timestamp':
      return witnessOf(row, settings) === item.witness;
    case 'hold':
      return !isHeld(row, settings);
    case 'operation-key':
      return row[settings.operationKeyAttribute] !== item.operationKey;
  }
}

function holdsForDeletion(clause: Clause, row: Row | undefined, item: WorkItem, settings: Settings): boolean {
  if (row === undefined) return clause !== 'exists';
  const [planned, found] = [expiryParts(item.witness), expiryParts(expiryWitnessOf(row, settings))];
  switch (clause) {
    case 'exists':
      return true;
    case 'state':
      return row[settings.stateAttribute] === settings.expiredState;
    case 'timestamp':
      return found.at === planned.at;
    case 'hold':
      return !isHeld(row, settings);
    case 'operation-key':
      return found.operationKey === planned.operationKey;
  }
}

function expiryParts(witness: string): { readonly at: unknown; readonly operationKey: unknown } {
  const parts: unknown = JSON.parse(witness);
  const [at, operationKey] = Array.isArray(parts) ? parts : [];
  return { at, operationKey };
}

/** Nothing of ours is left in a record that is gone, so a second try cannot tell who removed it. */
function keptFromDeletion(row: Row | undefined, { key, witness }: WorkItem, settings: Settings): RecordResult {
  if (row === undefined) return { kind: 'outcome', key, outcome: 'absent', applied: 'not' };
  const asPlanned =
    row[settings.stateAttribute] === settings.expiredState && expiryWitnessOf(row, settings) === witness;
  return {
    kind: 'outcome',
    key,
    outcome: asPlanned && isHeld(row, settings) ? 'held' : 'state_changed',
    applied: 'not',
  };
}

function refusal(row: Row | undefined, item: WorkItem, settings: Settings): RecordResult {
  const { key } = item;
  if (row === undefined) return { kind: 'outcome', key, outcome: 'absent', applied: 'not' };
  const state = row[settings.stateAttribute];
  // The key alone proves our write, even where somebody made the record eligible again.
  if (row[settings.operationKeyAttribute] === item.operationKey) {
    return { kind: 'outcome', key, outcome: 'expired', applied: 'earlier' };
  }
  const changed = state !== settings.eligibleState || witnessOf(row, settings) !== item.witness;
  const outcome = !changed && isHeld(row, settings) ? 'held' : 'state_changed';
  return { kind: 'outcome', key, outcome, applied: 'not' };
}

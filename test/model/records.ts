import { type EpochMillis, formatInstant } from '../../lib/core/identity/instant.ts';
import type { Settings } from '../../lib/core/policy/settings.ts';
import type { StoredValue } from '../../lib/core/policy/timestamp.ts';
import { copyOf } from './plain.ts';
import type { World } from './world.ts';

/** A record as plain data; attribute names are the settings'. A property that is undefined is not there. */
export type Row = Readonly<Record<string, unknown>>;

/** One write of the pipeline, for the test to judge: what stood there, and what was made of it. */
export interface RecordWrite {
  readonly key: string;
  readonly before: Row | undefined;
  /** Undefined for a deletion. */
  readonly after: Row | undefined;
  readonly operationKey: string;
  /** The witness that the caller had planned. */
  readonly planned: string;
  /** True time of the write. */
  readonly at: EpochMillis;
}

/** The record table, and what people do to it while a run is under way. */
export class MemoryRecords {
  readonly settings: Settings;
  /** Every write that took effect, in order. */
  readonly writes: RecordWrite[] = [];
  /** Keys of records that a person changed after we had written them. */
  readonly changedAfterwards = new Set<string>();
  /** Keys of records that a person marked as expired: nothing of ours proves it. */
  readonly expiredByHand = new Set<string>();
  readonly world: World;
  readonly #rows = new Map<string, Row>();
  #sorted: readonly Row[] | undefined;

  constructor(world: World, settings: Settings, rows: readonly Row[] = []) {
    this.world = world;
    this.settings = settings;
    for (const row of rows) this.put(row);
  }

  put(row: Row): void {
    const id = row[this.settings.partitionKeyAttribute];
    if (typeof id !== 'string') throw new Error('a row needs its key as text');
    this.#rows.set(id, copyOf(row));
    this.#sorted = undefined;
  }

  row(id: string): Row | undefined {
    return this.#rows.get(id);
  }

  /** All rows in order of their ids; the same list for as long as nothing changes. */
  rows(): readonly Row[] {
    this.#sorted ??= [...this.#rows.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
    return this.#sorted;
  }

  /** Carries out a write of the pipeline and notes it. */
  write(write: Omit<RecordWrite, 'at'>): void {
    const noted = copyOf({ ...write, at: this.world.millis });
    this.writes.push(noted);
    if (noted.after === undefined) this.#delete(idOfKey(write.key));
    else this.put(noted.after);
  }

  /** A person came back: active at this instant, or now. */
  reactivate(id: string, instant = formatInstant(this.world.millis)): void {
    this.#change(id, {
      [this.settings.stateAttribute]: this.settings.eligibleState,
      [this.settings.timestampAttribute]: instant,
    });
  }

  /** Support sets the state back by hand and touches nothing else. */
  restore(id: string): void {
    this.#change(id, { [this.settings.stateAttribute]: this.settings.eligibleState });
  }

  /** Another application takes the record through its own life cycle. */
  close(id: string): void {
    this.#change(id, { [this.settings.stateAttribute]: 'CLOSED' });
  }

  /** Moves the last activity without leaving the range that is due. */
  touch(id: string, instant: string): void {
    this.#change(id, { [this.settings.timestampAttribute]: instant });
  }

  /** Somebody else marks the record as expired, in our words but without our key. */
  expireByHand(id: string, instant = formatInstant(this.world.millis), more: Row = {}): void {
    const { stateAttribute, expiredState, expiredAtAttribute } = this.settings;
    this.expiredByHand.add(keyOfId(id));
    this.#change(id, { [stateAttribute]: expiredState, [expiredAtAttribute]: instant, ...more });
  }

  hold(id: string): void {
    this.#change(id, { [this.#holdAttribute()]: 'legal' });
  }

  release(id: string): void {
    this.#change(id, { [this.#holdAttribute()]: null });
  }

  remove(id: string): void {
    this.#noteChange(id);
    this.#delete(id);
  }

  /** A record of the same key is made anew, active now. */
  recreate(id: string): void {
    const { partitionKeyAttribute, tenantAttribute } = this.settings;
    const tenant = this.#rows.get(id)?.[tenantAttribute] ?? 'reborn';
    this.remove(id);
    this.put({ [partitionKeyAttribute]: id, [tenantAttribute]: tenant });
    this.reactivate(id);
  }

  #delete(id: string): void {
    this.#rows.delete(id);
    this.#sorted = undefined;
  }

  #holdAttribute(): string {
    return this.settings.holdAttributes.split(',')[0] ?? '';
  }

  #change(id: string, change: Row): void {
    const row = this.#rows.get(id);
    if (row === undefined) return;
    this.#noteChange(id);
    this.put({ ...row, ...change });
  }

  #noteChange(id: string): void {
    const key = keyOfId(id);
    if (this.writes.some((write) => write.key === key)) this.changedAfterwards.add(key);
  }
}

/** The spelling of a key: a JSON array of the type tag with the value, one element per key attribute. */
export function keyOfId(id: string): string {
  return JSON.stringify([`S${id}`]);
}

export function idOfKey(key: string): string {
  const parts: unknown = JSON.parse(key);
  const [part] = Array.isArray(parts) ? parts : [];
  if (typeof part !== 'string' || !part.startsWith('S')) throw new Error(`not a key of this table: ${key}`);
  return part.slice(1);
}

/** A row's attribute with the type tag that DynamoDB would give it. */
export function storedValue(row: Row, attribute: string): StoredValue {
  const value = row[attribute];
  if (value === undefined) return { type: 'missing', text: '' };
  if (value === null) return { type: 'NULL', text: '' };
  if (typeof value === 'string') return { type: 'S', text: value };
  if (typeof value === 'number' || typeof value === 'bigint') return { type: 'N', text: String(value) };
  return { type: 'other', text: '' };
}

/** The timestamp exactly as stored. */
export function witnessOf(row: Row, settings: Settings): string {
  const { type, text } = storedValue(row, settings.timestampAttribute);
  return `${type}:${text}`;
}

/** What a deletion must still find: the time of expiry exactly as stored, and the key of the run that wrote it. */
export function expiryWitnessOf(row: Row, settings: Settings): string {
  const { type, text } = storedValue(row, settings.expiredAtAttribute);
  return JSON.stringify([`${type}:${text}`, storedValue(row, settings.operationKeyAttribute).text]);
}

/** Absent, NULL, false and empty mean no hold; anything else is one (pitfall P57). */
export function isHeld(row: Row, settings: Settings): boolean {
  return settings.holdAttributes
    .split(',')
    .filter((name) => name !== '')
    .some((name) => ![undefined, null, false, ''].includes(row[name] as string | boolean | null | undefined));
}

import { asciiJson } from '../../lib/core/identity/encode.ts';
import type { EpochMillis } from '../../lib/core/identity/instant.ts';
import type { RunKind } from '../../lib/core/identity/keys.ts';
import type { Settings } from '../../lib/core/policy/settings.ts';
import { readTimestamp } from '../../lib/core/policy/timestamp.ts';
import type { DiscoveredRecord, RecordPage, RecordSource } from '../../lib/core/ports/index.ts';
import { MAX_TENANT_BYTES } from '../../lib/core/publish/reference.ts';
import { keysetPage, type Paging } from './paging.ts';
import { expiryWitnessOf, isHeld, keyOfId, type MemoryRecords, type Row, storedValue, witnessOf } from './records.ts';

export interface SourceOptions {
  /** `index`: rows without a readable timestamp are not seen. `due-query`: nor are those that are not due. */
  readonly through: 'table' | 'index' | 'due-query';
  /** `keys-only`: no hold is seen at discovery (pitfall P19). */
  readonly projection: 'all' | 'keys-only';
  /** `timestamp`: a record that is touched during discovery may be seen twice or not at all. */
  readonly order: 'key' | 'timestamp';
  /** Rows read per page, before those in another state are left out. */
  readonly paging: Paging;
  readonly writeUnits: number;
  /** Records in the eligible state that are not due and that the test does not list: most of a real table. */
  readonly others: number;
}

const DEFAULTS: SourceOptions = {
  through: 'table',
  projection: 'all',
  order: 'key',
  paging: { size: 4, emptyPages: 'none' },
  writeUnits: 1,
  others: 0,
};

const FAR_FUTURE = Date.UTC(2099, 0, 1);

/** What a run looks for: records that may expire, or records that are expired and may be deleted. */
export interface SourceSubject {
  readonly settings: Settings;
  readonly cutoff: EpochMillis;
  readonly kind: RunKind;
}

/** Discovery over the rows. The state filter is applied after a page is cut, so a page may be empty (pitfall P11). */
export class MemoryRecordSource implements RecordSource {
  readonly seesUnreadable: boolean;
  readonly seesAll: boolean;
  readonly segments: readonly string[];
  readonly #records: MemoryRecords;
  readonly #options: SourceOptions;
  readonly #subject: SourceSubject;
  /** Shared by all views of the rows. */
  readonly #view: { stale: readonly Row[] | undefined };

  constructor(
    records: MemoryRecords,
    options: Partial<SourceOptions> = {},
    subject?: SourceSubject,
    view: { stale: readonly Row[] | undefined } = { stale: undefined },
  ) {
    const { settings } = records;
    this.#records = records;
    this.#options = { ...DEFAULTS, ...options };
    this.#subject = subject ?? { settings, cutoff: Number.POSITIVE_INFINITY, kind: settings.action };
    this.#view = view;
    this.seesUnreadable = this.#options.through === 'table';
    this.seesAll = this.#options.through !== 'due-query';
    const { discoverySegments } = this.#subject.settings;
    this.segments = Array.from({ length: discoverySegments }, (_, number) => `segment-${number}`);
  }

  /** The same rows as a run's own snapshot of the policy describes them. */
  forRun({ settings, cutoff, kind }: SourceSubject): MemoryRecordSource {
    return new MemoryRecordSource(this.#records, this.#options, { settings, cutoff, kind }, this.#view);
  }

  /** From now on discovery sees the rows as they are at this moment. */
  fallBehind(): void {
    this.#view.stale = this.#records.rows();
  }

  catchUp(): void {
    this.#view.stale = undefined;
  }

  async page(segment: string, cursor: string | undefined): Promise<RecordPage> {
    const number = this.segments.indexOf(segment);
    if (number < 0) throw new Error(`no such segment: ${segment}`);
    const { stale } = this.#view;
    const present = this.#records.rows();
    // The table keeps one list of its rows for as long as nothing changes.
    if (stale !== undefined && stale !== present) this.#records.world.note('stale discovery read');
    const rows = (stale ?? present)
      .filter((row) => segmentOf(this.#id(row), this.segments.length) === number)
      .filter((row) => this.#isSeen(row))
      .sort((a, b) => (this.#sortKey(a) < this.#sortKey(b) ? -1 : 1));
    const page = keysetPage(rows, (row) => this.#sortKey(row), cursor, this.#options.paging);
    const { stateAttribute, eligibleState, expiredState } = this.#subject.settings;
    const state = this.#deletes ? expiredState : eligibleState;
    const seen = page.items.filter((row) => row[stateAttribute] === state).map((row) => this.#seen(row));
    if (seen.length === 0 && page.next !== undefined) this.#records.world.note('empty filtered page');
    const isLast = number === 0 && page.next === undefined;
    return { records: isLast ? [...seen, ...this.#others()] : seen, next: page.next };
  }

  #others(): readonly DiscoveredRecord[] {
    return this.#deletes || !this.seesAll ? [] : otherRecords(this.#options.others);
  }

  get #deletes(): boolean {
    return this.#subject.kind === 'delete';
  }

  #isSeen(row: Row): boolean {
    if (this.seesUnreadable) return true;
    const timestamp = this.#timestamp(row);
    return timestamp.kind === 'readable' && (this.seesAll || timestamp.millis < this.#subject.cutoff);
  }

  #seen(row: Row): DiscoveredRecord {
    const { settings } = this.#subject;
    const carried = storedValue(row, settings.operationKeyAttribute);
    return {
      key: keyOfId(this.#id(row)),
      witness: (this.#deletes ? expiryWitnessOf : witnessOf)(row, settings),
      tenant: tenantOf(row, settings.tenantAttribute),
      timestamp: this.#timestamp(row),
      held: this.#options.projection === 'all' && isHeld(row, settings),
      operationKey: this.#deletes && carried.type === 'S' ? carried.text : undefined,
      writeUnits: this.#options.writeUnits,
    };
  }

  #id(row: Row): string {
    return String(row[this.#subject.settings.partitionKeyAttribute]);
  }

  get #timeAttribute(): string {
    const { timestampAttribute, expiredAtAttribute } = this.#subject.settings;
    return this.#deletes ? expiredAtAttribute : timestampAttribute;
  }

  #timestamp(row: Row) {
    return readTimestamp(storedValue(row, this.#timeAttribute), this.#subject.settings.timestampFormat);
  }

  #sortKey(row: Row): string {
    if (this.#options.order === 'key') return this.#id(row);
    return `${storedValue(row, this.#timeAttribute).text} ${this.#id(row)}`;
  }
}

/** As text; none where it would not fit a message (pitfall P29). */
function tenantOf(row: Row, attribute: string): string | undefined {
  if (attribute === '') return 'all';
  const { type, text } = storedValue(row, attribute);
  const readable = (type === 'S' || type === 'N') && text !== '' && asciiJson(text).length - 2 <= MAX_TENANT_BYTES;
  return readable ? text : undefined;
}

const OTHER: Omit<DiscoveredRecord, 'key'> = {
  witness: 'S:other',
  tenant: 'other',
  timestamp: { kind: 'readable', millis: FAR_FUTURE },
  held: false,
  operationKey: undefined,
  writeUnits: 1,
};
const others: DiscoveredRecord[] = [];

/** Made once: the walker reads them thousands of times. */
function otherRecords(count: number): readonly DiscoveredRecord[] {
  while (others.length < count) others.push({ ...OTHER, key: keyOfId(`other ${others.length}`) });
  return others.slice(0, count);
}

function segmentOf(id: string, segments: number): number {
  let hash = 0;
  for (const character of id) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return hash % segments;
}

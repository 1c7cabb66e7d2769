import { asciiJson } from '../../lib/core/identity/encode.ts';
import { readTimestamp } from '../../lib/core/policy/timestamp.ts';
import type { DiscoveredRecord, RecordPage, RecordSource } from '../../lib/core/ports/index.ts';
import { MAX_TENANT_BYTES } from '../../lib/core/publish/reference.ts';
import { keysetPage, type Paging } from './paging.ts';
import { isHeld, keyOfId, type MemoryRecords, type Row, storedValue, witnessOf } from './records.ts';

export interface SourceOptions {
  /** `index`: rows without a readable timestamp are not seen. */
  readonly through: 'table' | 'index';
  /** `keys-only`: no hold is seen at discovery (pitfall P19). */
  readonly projection: 'all' | 'keys-only';
  /** `timestamp`: a record that is touched during discovery may be seen twice or not at all. */
  readonly order: 'key' | 'timestamp';
  /** Rows read per page, before those in another state are left out. */
  readonly paging: Paging;
  readonly writeUnits: number;
}

const DEFAULTS: SourceOptions = {
  through: 'table',
  projection: 'all',
  order: 'key',
  paging: { size: 4, emptyPages: 'none' },
  writeUnits: 1,
};

/** Discovery over the rows. The state filter is applied after a page is cut, so a page may be empty (pitfall P11). */
export class MemoryRecordSource implements RecordSource {
  readonly seesUnreadable: boolean;
  readonly segments: readonly string[];
  readonly #records: MemoryRecords;
  readonly #options: SourceOptions;
  #stale: readonly Row[] | undefined;

  constructor(records: MemoryRecords, options: Partial<SourceOptions> = {}) {
    this.#records = records;
    this.#options = { ...DEFAULTS, ...options };
    this.seesUnreadable = this.#options.through === 'table';
    this.segments = Array.from({ length: records.settings.discoverySegments }, (_, number) => `segment-${number}`);
  }

  /** From now on discovery sees the rows as they are at this moment. */
  fallBehind(): void {
    this.#stale = this.#records.rows();
  }

  catchUp(): void {
    this.#stale = undefined;
  }

  async page(segment: string, cursor: string | undefined): Promise<RecordPage> {
    const number = this.segments.indexOf(segment);
    if (number < 0) throw new Error(`no such segment: ${segment}`);
    const rows = (this.#stale ?? this.#records.rows())
      .filter((row) => segmentOf(this.#id(row), this.segments.length) === number)
      .filter((row) => this.seesUnreadable || this.#timestamp(row).kind === 'readable')
      .sort((a, b) => (this.#sortKey(a) < this.#sortKey(b) ? -1 : 1));
    const page = keysetPage(rows, (row) => this.#sortKey(row), cursor, this.#options.paging);
    const { stateAttribute, eligibleState } = this.#records.settings;
    return {
      records: page.items.filter((row) => row[stateAttribute] === eligibleState).map((row) => this.#seen(row)),
      next: page.next,
    };
  }

  #seen(row: Row): DiscoveredRecord {
    const { settings } = this.#records;
    return {
      key: keyOfId(this.#id(row)),
      witness: witnessOf(row, settings),
      tenant: tenantOf(row, settings.tenantAttribute),
      timestamp: this.#timestamp(row),
      held: this.#options.projection === 'all' && isHeld(row, settings),
      writeUnits: this.#options.writeUnits,
    };
  }

  #id(row: Row): string {
    return String(row[this.#records.settings.partitionKeyAttribute]);
  }

  #timestamp(row: Row) {
    const { timestampAttribute, timestampFormat } = this.#records.settings;
    return readTimestamp(storedValue(row, timestampAttribute), timestampFormat);
  }

  #sortKey(row: Row): string {
    if (this.#options.order === 'key') return this.#id(row);
    return `${storedValue(row, this.#records.settings.timestampAttribute).text} ${this.#id(row)}`;
  }
}

/** As text; none where it would not fit a message (pitfall P29). */
function tenantOf(row: Row, attribute: string): string | undefined {
  if (attribute === '') return 'all';
  const { type, text } = storedValue(row, attribute);
  const readable = (type === 'S' || type === 'N') && text !== '' && asciiJson(text).length - 2 <= MAX_TENANT_BYTES;
  return readable ? text : undefined;
}

function segmentOf(id: string, segments: number): number {
  let hash = 0;
  for (const character of id) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return hash % segments;
}

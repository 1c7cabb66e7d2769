import { asciiJson } from '../../../core/identity/encode.ts';
import type { Settings } from '../../../core/policy/settings.ts';
import { readTimestamp } from '../../../core/policy/timestamp.ts';
import type { DiscoveredRecord } from '../../../core/ports/record-source.ts';
import { MAX_TENANT_BYTES } from '../../../core/publish/reference.ts';
import { discoveryIndex, type TableFacts } from './describe.ts';
import { expiryChange, isHeld } from './guard.ts';
import { keyNames, recordKey } from './keys.ts';
import { type Sought, soughtBy, type TransitionKind } from './transition.ts';
import { type Item, storedValue } from './values.ts';
import { witnessOf } from './witness.ts';
import { deletionUnits, leastDeletionUnits, leastUpdateUnits, updateUnits } from './write-units.ts';

/** The tenant of every record where no attribute names one. */
export const ONE_TENANT = 'all';

/** Takes from items as they were read the facts that discovery needs; the rest of an item goes no further. */
export class RecordReader {
  readonly #settings: Settings;
  readonly #kind: TransitionKind;
  readonly #sought: Sought;
  readonly #keyNames: readonly string[];
  readonly #quote: (item: Item) => number;

  constructor(table: TableFacts, settings: Settings, kind: TransitionKind) {
    this.#settings = settings;
    this.#kind = kind;
    this.#sought = soughtBy(kind, settings);
    this.#keyNames = keyNames(settings);
    this.#quote = quoteOf(table, settings, kind);
  }

  /** Undefined where the record is not in the state that the run looks for. */
  read(item: Item): DiscoveredRecord | undefined {
    const { stateAttribute, timestampFormat, operationKeyAttribute } = this.#settings;
    if (item[stateAttribute]?.S !== this.#sought.state) return undefined;
    return {
      key: recordKey(item, this.#keyNames),
      witness: witnessOf(this.#kind, this.#settings, item),
      tenant: tenantOf(item, this.#settings),
      timestamp: readTimestamp(storedValue(item[this.#sought.timestampAttribute]), timestampFormat),
      held: isHeld(item, this.#settings),
      operationKey: this.#kind === 'delete' ? item[operationKeyAttribute]?.S : undefined,
      writeUnits: this.#quote(item),
    };
  }
}

/** Prices the transition of a record, by the whole of it or by what the index carries. */
function quoteOf(table: TableFacts, settings: Settings, kind: TransitionKind): (item: Item) => number {
  const whole = settings.recordIndexName === '' || discoveryIndex(table, settings)?.projects === 'all';
  if (kind === 'delete') {
    const units = whole ? deletionUnits : leastDeletionUnits;
    return (item) => units(table, item);
  }
  const units = whole ? updateUnits : leastUpdateUnits;
  const change = expectedChange(settings);
  return (item) => units(table, item, change);
}

/** An expiry of the size that the real one will have. */
function expectedChange(settings: Settings): Item {
  const item = { key: '', witness: '', operationKey: 'k'.repeat(OPERATION_KEY_LENGTH), writeUnits: 0 };
  return Object.fromEntries(expiryChange({ kind: 'expire', settings, now: LATER, items: [] }, item));
}

/** 128 bits in base64url. */
const OPERATION_KEY_LENGTH = 22;
const LATER = Date.UTC(2030, 0, 1, 1, 1, 1, 111);

/** Undefined where the policy names a tenant attribute and the record has no readable one. */
export function tenantOf(item: Item, { tenantAttribute }: Settings): string | undefined {
  if (tenantAttribute === '') return ONE_TENANT;
  const tenant = item[tenantAttribute]?.S ?? item[tenantAttribute]?.N;
  if (tenant === undefined || tenant === '') return undefined;
  const quotes = 2;
  return asciiJson(tenant).length - quotes <= MAX_TENANT_BYTES ? tenant : undefined;
}

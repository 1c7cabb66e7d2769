import { asciiJson } from '../../../core/identity/encode.ts';
import type { Settings } from '../../../core/policy/settings.ts';
import { readTimestamp } from '../../../core/policy/timestamp.ts';
import type { DiscoveredRecord } from '../../../core/ports/record-source.ts';
import { MAX_TENANT_BYTES } from '../../../core/publish/reference.ts';
import type { TableFacts } from './describe.ts';
import { expiryChange, isHeld } from './guard.ts';
import { keyNames, recordKey } from './keys.ts';
import { discoveryIndex } from './table-problems.ts';
import { type Item, storedValue, tagged } from './values.ts';
import { leastUpdateUnits, updateUnits } from './write-units.ts';

/** The tenant of every record where no attribute names one. */
export const ONE_TENANT = 'all';

/** Takes from items as they were read the facts that discovery needs; the rest of an item goes no further. */
export class RecordReader {
  readonly #table: TableFacts;
  readonly #settings: Settings;
  readonly #keyNames: readonly string[];
  readonly #whole: boolean;
  readonly #change: Item;

  constructor(table: TableFacts, settings: Settings) {
    this.#table = table;
    this.#settings = settings;
    this.#keyNames = keyNames(settings);
    this.#whole = settings.recordIndexName === '' || discoveryIndex(table, settings)?.projects === 'all';
    this.#change = expectedChange(settings);
  }

  /** Undefined where the record is not in the eligible state. */
  read(item: Item): DiscoveredRecord | undefined {
    const { stateAttribute, eligibleState, timestampAttribute, timestampFormat } = this.#settings;
    if (item[stateAttribute]?.S !== eligibleState) return undefined;
    const timestamp = item[timestampAttribute];
    return {
      key: recordKey(item, this.#keyNames),
      witness: tagged(timestamp) ?? '',
      tenant: tenantOf(item, this.#settings),
      timestamp: readTimestamp(storedValue(timestamp), timestampFormat),
      held: isHeld(item, this.#settings),
      writeUnits: this.#quote(item),
    };
  }

  #quote(item: Item): number {
    const units = this.#whole ? updateUnits : leastUpdateUnits;
    return units(this.#table, item, this.#change);
  }
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

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { EpochMillis } from '../core/identity/instant.ts';
import type { Admission, Admitted, Dimension } from '../core/ports/admission.ts';
import { PortError } from '../core/ports/failure.ts';
import { refusal } from './errors.ts';
import type { Attributes } from './item-size.ts';
import { absent, between, either, lessThan } from './ledger/expression.ts';
import { number } from './ledger/fields.ts';
import { itemKey, policyPartition, SK } from './ledger/schema.ts';
import { type ConditionalUpdate, LedgerTable } from './ledger/table.ts';

export interface AdmissionPorts {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  readonly policyId: string;
}

/** Epoch milliseconds from which on nothing of the dimension is taken yet. It only ever grows. */
const NEXT_FREE = 'nextFree';

// What the first write is refused with says which is the right one, and a refusal of that says that it is too late.
const MAX_WRITES = 3;

/**
 * Shared admission as one number per dimension on the ledger table: whoever is admitted moves it on by what its amount
 * lasts at the rate. One write for a grant in the common case, none for a refusal that the last answer foretells.
 * A grant whose answer was lost leaves its time unused: the rate is then lower for a moment, never higher.
 */
export class DynamoAdmission implements Admission {
  readonly #ports: AdmissionPorts;
  readonly #table: LedgerTable;
  /** By dimension: `nextFree` as last seen, which is at most what it is. */
  readonly #seen = new Map<string, EpochMillis>();

  constructor(ports: AdmissionPorts) {
    this.#ports = ports;
    this.#table = new LedgerTable(ports.client, ports.tableName);
  }

  async acquire(
    dimensions: readonly Dimension[],
    amount: number,
    now: EpochMillis,
    latest: EpochMillis,
  ): Promise<Admitted> {
    const [dimension] = dimensions;
    // All or nothing over several items would be a transaction.
    if (dimension === undefined || dimensions.length > 1) throw refusal('acquire', 'OneDimensionOnly');
    const { name, perSecond } = dimension;
    if (!(amount > 0 && perSecond > 0)) throw refusal('acquire', 'NothingWanted');
    // To the microsecond: rounded to whole milliseconds, a single record at a high rate would take many times its share.
    const lasts = Math.ceil((amount / perSecond) * 1e6) / 1e3;
    for (let writes = 0; ; writes += 1) {
      const seen = this.#seen.get(name) ?? 0;
      const from = Math.max(now, seen);
      if (from > latest) return { kind: 'deferred', until: from, dimension: name };
      if (writes === MAX_WRITES) throw new PortError('acquire', { class: 'transient', error: 'AdmissionContended' });
      const key = itemKey(policyPartition(this.#ports.policyId), `${SK.admission}${name}`);
      const take = seen < now ? takeIdle(now, lasts) : takeNext(now, latest, lasts);
      const written = await this.#table.update('acquire', { key, ...take });
      const nextFree = nextFreeOf(written.item);
      this.#seen.set(name, nextFree);
      if (written.kind === 'written') return { kind: 'granted', from: nextFree - lasts, until: nextFree };
    }
  }
}

type Take = Omit<ConditionalUpdate, 'key'>;

/** Where nobody is waiting, time that has passed is nobody's: the share begins now. */
function takeIdle(now: EpochMillis, lasts: number): Take {
  return {
    update: { set: { [NEXT_FREE]: number(now + lasts) } },
    condition: either(absent(NEXT_FREE), lessThan(NEXT_FREE, number(now))),
  };
}

/** Behind those who came before. The sum is the store's, so that of many at once each gets a share of its own. */
function takeNext(now: EpochMillis, latest: EpochMillis, lasts: number): Take {
  return {
    update: { set: {}, increase: { [NEXT_FREE]: number(lasts) } },
    condition: between(NEXT_FREE, number(now), number(latest)),
  };
}

function nextFreeOf(item: Attributes | undefined): EpochMillis {
  return Number(item?.[NEXT_FREE]?.N ?? 0);
}

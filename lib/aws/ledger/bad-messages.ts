import type { EpochMillis } from '../../core/identity/instant.ts';
import type { BadMessage } from '../../core/ledger/items.ts';
import { absent, equals } from './expression.ts';
import { number, text } from './fields.ts';
import { decodeMessage, encodeMessage, messageKey } from './report-items.ts';
import type { Expiry } from './retention.ts';
import { LEDGER_KEY } from './schema.ts';
import type { LedgerTable } from './table.ts';

/** Refused means that it was seen before, and the first sighting stays. */
export async function recordBadMessage(table: LedgerTable, expiry: Expiry, message: BadMessage): Promise<void> {
  await table.put('recordBadMessage', {
    item: { ...encodeMessage(message), ...expiry() },
    condition: absent(LEDGER_KEY.partitionKey),
  });
}

export async function readBadMessage(
  table: LedgerTable,
  policyId: string,
  digest: string,
): Promise<BadMessage | undefined> {
  const item = await table.get('readBadMessage', messageKey({ policyId, digest }));
  return item === undefined ? undefined : decodeMessage(item);
}

/** Refused means that there is no such message; abandoning makes none. */
export async function abandonBadMessage(
  table: LedgerTable,
  policyId: string,
  digest: string,
  at: EpochMillis,
): Promise<void> {
  await table.update('abandonBadMessage', {
    key: messageKey({ policyId, digest }),
    update: { set: {}, initially: { abandonedAt: number(at) } },
    condition: equals('digest', text(digest)),
  });
}

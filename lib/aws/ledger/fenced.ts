import type { FencedWrite } from '../../core/ports/ledger.ts';
import type { Attributes } from '../item-size.ts';
import { absent, either, lessThan } from './expression.ts';
import { LEDGER_KEY } from './schema.ts';
import { type LedgerTable, says } from './table.ts';

/** `content`: the attributes by which the same content of the same epoch is recognised. */
export async function putFenced(
  table: LedgerTable,
  operation: string,
  item: Attributes,
  content: readonly string[],
): Promise<FencedWrite> {
  const { epoch } = item;
  if (epoch === undefined) throw new Error(`${operation}: the item has no epoch`);
  const condition = either(absent(LEDGER_KEY.partitionKey), lessThan('epoch', epoch));
  const written = await table.put(operation, { item, condition });
  if (written.kind === 'written') return 'written';
  const own = Object.fromEntries(Object.entries(item).filter(([name]) => ['epoch', ...content].includes(name)));
  return says(written.item, own) ? 'written' : 'superseded';
}

import { type DynamoDBClient, QueryCommand } from '@aws-sdk/client-dynamodb';
import type { OpenUnit, OpenUnitsWanted, Page } from '../../core/ports/ledger.ts';
import { portCall } from '../errors.ts';
import type { Attributes } from '../item-size.ts';
import { beginsWith, between, type Clause, Placeholders } from './expression.ts';
import { decodeFields, type Field, text } from './fields.ts';
import { LEDGER_KEY, OPEN_INDEX, OPEN_SHARDS, openShard, openUnitSortAfter } from './schema.ts';

/** Where a walk over the shards stands; as a cursor it is JSON. */
interface Place {
  readonly shard: number;
  readonly after?: Attributes;
}

const PAGE_ITEMS = 100;

export const openRuns: Clause = beginsWith(OPEN_INDEX.sortKey, text('run#'));

export function openUnits(wanted: OpenUnitsWanted): Clause {
  const { sortKey } = OPEN_INDEX;
  if (wanted.state !== 'planned') return beginsWith(sortKey, text(`${wanted.state}#`));
  return between(sortKey, text('planned#'), text(openUnitSortAfter('planned', wanted.dueAt)));
}

/** One query of one shard. The page may be empty while other shards are to come. */
export async function openPage(
  client: DynamoDBClient,
  table: string,
  range: Clause,
  cursor: string | undefined,
): Promise<Page<Attributes>> {
  const place: Place = cursor === undefined ? { shard: 0 } : JSON.parse(cursor);
  const at = new Placeholders();
  const partition = `${at.name(OPEN_INDEX.partitionKey)} = ${at.value(text(openShard(place.shard)))}`;
  const command = new QueryCommand({
    TableName: table,
    IndexName: OPEN_INDEX.indexName,
    KeyConditionExpression: `${partition} AND ${range(at)}`,
    ...at.fields(),
    Limit: PAGE_ITEMS,
    ...(place.after === undefined ? {} : { ExclusiveStartKey: place.after }),
  });
  const { Items = [], LastEvaluatedKey } = await portCall('openPage', () => client.send(command));
  return { items: Items, next: nextPlace(place, LastEvaluatedKey) };
}

const OPEN_UNIT_FIELDS = {
  runId: 'text',
  unit: 'text',
  tenant: 'text',
  records: 'number',
  attempts: 'number',
  generation: 'number',
  since: 'number',
  reason: 'text',
  errorClass: 'text',
  failureClass: 'text',
  copiedAt: 'number',
  copiedGeneration: 'number',
} as const satisfies Record<keyof OpenUnit, Field>;

export function decodeOpenUnit(item: Attributes): OpenUnit {
  return decodeFields(OPEN_UNIT_FIELDS, item);
}

function nextPlace({ shard }: Place, last: Attributes | undefined): string | undefined {
  if (last !== undefined) {
    const names = [LEDGER_KEY.partitionKey, LEDGER_KEY.sortKey, OPEN_INDEX.partitionKey, OPEN_INDEX.sortKey];
    return JSON.stringify({ shard, after: Object.fromEntries(names.map((name) => [name, last[name]])) });
  }
  return shard + 1 < OPEN_SHARDS ? JSON.stringify({ shard: shard + 1 }) : undefined;
}

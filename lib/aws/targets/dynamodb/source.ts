import {
  type AttributeValue,
  type DynamoDBClient,
  QueryCommand,
  type QueryCommandOutput,
  ScanCommand,
  type ScanCommandOutput,
} from '@aws-sdk/client-dynamodb';
import type { EpochMillis } from '../../../core/identity/instant.ts';
import type { RunKind } from '../../../core/identity/keys.ts';
import { RefusedRequest } from '../../../core/plan/request.ts';
import type { Settings } from '../../../core/policy/settings.ts';
import { failureOf } from '../../../core/ports/failure.ts';
import type { RecordPage, RecordSource } from '../../../core/ports/record-source.ts';
import { portError } from '../../errors.ts';
import { describeTable, discoveryIndex, type TableFacts } from './describe.ts';
import { RecordReader } from './discovered.ts';
import { Placeholders } from './expression.ts';
import { partitionValues, upperBound } from './partition-values.ts';
import { tableProblems, unseenTable } from './table-problems.ts';
import { type Sought, soughtBy, type TransitionKind, transitionOf } from './transition.ts';
import { tagged, untagged } from './values.ts';

/**
 * Most items that the pages read side by side examine together. DynamoDB ends a page at 1 MB, which may be ten
 * thousand small records and many times the memory once they are objects. Smaller pages cost calls, not read units.
 */
const ITEMS_AT_ONCE = 16_000;
const LEAST_ITEMS_PER_PAGE = 250;

export interface RecordSourceOptions {
  readonly client: DynamoDBClient;
  readonly settings: Settings;
  readonly cutoff: EpochMillis;
  /** A deletion looks for what an earlier run expired; a run of kind `undo` has no source. */
  readonly kind: RunKind;
  readonly itemsPerPage?: number;
}

/** Looks at the table and opens it for discovery. Throws RefusedRequest where the settings do not fit it. */
export async function openRecordSource(options: RecordSourceOptions): Promise<RecordSource> {
  const { client, settings } = options;
  const kind = transitionOf(options.kind);
  const table = await lookAt(client, settings);
  const problems = tableProblems(table, settings, kind);
  if (problems.length > 0) throw new RefusedRequest(problems);
  return new DynamoRecordSource(table, { ...options, kind });
}

async function lookAt(client: DynamoDBClient, settings: Settings): Promise<TableFacts> {
  try {
    return await describeTable(client, settings.recordTableName);
  } catch (error) {
    const problem = unseenTable(settings, failureOf(error).error);
    throw problem === undefined ? error : new RefusedRequest([problem]);
  }
}

/** What one segment reads: a share of a scan, or one partition of an index sorted by the timestamp. */
type Part =
  | { readonly kind: 'share'; readonly number: number }
  | { readonly kind: 'partition'; readonly value: AttributeValue };

type Answer = Pick<ScanCommandOutput & QueryCommandOutput, 'Items' | 'LastEvaluatedKey'>;

/**
 * A DynamoDB table or index as a record source. Reads are eventually consistent: half the price, all that an index
 * offers, and no loss, since the write's own condition decides and what is missed is due again at the next run.
 */
export class DynamoRecordSource implements RecordSource {
  readonly seesUnreadable: boolean;
  readonly seesAll: boolean;
  readonly segments: readonly string[];
  readonly #table: TableFacts;
  readonly #options: RecordSourceOptions;
  readonly #sought: Sought;
  readonly #reader: RecordReader;
  readonly #parts: ReadonlyMap<string, Part>;

  constructor(table: TableFacts, options: RecordSourceOptions & { readonly kind: TransitionKind }) {
    this.#table = table;
    this.#options = options;
    this.#sought = soughtBy(options.kind, options.settings);
    this.#reader = new RecordReader(table, options.settings, options.kind);
    this.#parts = partsOf(table, options.settings);
    this.segments = [...this.#parts.keys()];
    this.seesUnreadable = options.settings.recordIndexName === '';
    this.seesAll = seesAll(table, options.settings, options.kind);
  }

  async page(segment: string, cursor: string | undefined): Promise<RecordPage> {
    const part = this.#parts.get(segment);
    if (part === undefined) throw new Error(`There is no segment ${segment}.`);
    const start = cursor === undefined ? {} : { ExclusiveStartKey: readCursor(cursor) };
    const { Items = [], LastEvaluatedKey: last } = await this.#read(part, start);
    return {
      records: Items.flatMap((item) => this.#reader.read(item) ?? []),
      next: last === undefined || Object.keys(last).length === 0 ? undefined : writeCursor(last),
    };
  }

  async #read(part: Part, start: { ExclusiveStartKey?: Record<string, AttributeValue> }): Promise<Answer> {
    const { client } = this.#options;
    try {
      if (part.kind === 'partition')
        return await client.send(new QueryCommand({ ...this.#query(part.value), ...start }));
      const share = { Segment: part.number, TotalSegments: this.#parts.size };
      return await client.send(new ScanCommand({ ...this.#common(), ...this.#stateFilter(), ...share, ...start }));
    } catch (error) {
      throw portError(part.kind === 'partition' ? 'Query' : 'Scan', error);
    }
  }

  #common() {
    const { recordTableName, recordIndexName } = this.#options.settings;
    return {
      TableName: recordTableName,
      ...(recordIndexName === '' ? {} : { IndexName: recordIndexName }),
      Limit: this.#options.itemsPerPage ?? Math.max(LEAST_ITEMS_PER_PAGE, Math.floor(ITEMS_AT_ONCE / this.#parts.size)),
    };
  }

  /** Only the state is filtered by the store: what else decides is judged in one place, by core. */
  #stateFilter(placeholders = new Placeholders()) {
    const { stateAttribute } = this.#options.settings;
    const filter = `${placeholders.name(stateAttribute)} = ${placeholders.value({ S: this.#sought.state })}`;
    return {
      FilterExpression: filter,
      ExpressionAttributeNames: placeholders.names,
      ExpressionAttributeValues: placeholders.values,
    };
  }

  #query(value: AttributeValue) {
    const { settings, cutoff } = this.#options;
    const placeholders = new Placeholders();
    const [partition] = discoveryIndex(this.#table, settings)?.keys ?? [];
    const bound = placeholders.value(upperBound(cutoff, settings.timestampFormat));
    const condition = [
      `${placeholders.name(partition?.name ?? '')} = ${placeholders.value(value)}`,
      `${placeholders.name(this.#sought.timestampAttribute)} <= ${bound}`,
    ].join(' AND ');
    // A Query may not filter by a key of its index; the reader leaves other states out in any case.
    const filter =
      partition?.name === settings.stateAttribute
        ? { ExpressionAttributeNames: placeholders.names, ExpressionAttributeValues: placeholders.values }
        : this.#stateFilter(placeholders);
    return { ...this.#common(), KeyConditionExpression: condition, ...filter };
  }
}

/**
 * Whether every record that may count is seen. A query up to the cutoff sees due records only. An index scan sees the
 * records that have all keys of the index: where a key is none of those that a record must have to be counted at all
 * (keys of the table, state, timestamp, tenant; for a deletion the operation key), the index may be sparse and hold,
 * say, only what somebody marked as due.
 */
function seesAll(table: TableFacts, settings: Settings, kind: TransitionKind): boolean {
  if (settings.indexPartitionValues !== '') return false;
  const certain = [
    ...table.keys.map((key) => key.name),
    settings.stateAttribute,
    soughtBy(kind, settings).timestampAttribute,
    settings.tenantAttribute,
    ...(kind === 'delete' ? [settings.operationKeyAttribute] : []),
  ];
  return (discoveryIndex(table, settings)?.keys ?? []).every((key) => certain.includes(key.name));
}

function partsOf(table: TableFacts, settings: Settings): ReadonlyMap<string, Part> {
  const [partition] = discoveryIndex(table, settings)?.keys ?? [];
  if (settings.indexPartitionValues !== '' && partition !== undefined) {
    const values = partitionValues(settings, partition.type) ?? [];
    return new Map(values.map((value, n) => [`partition-${n}`, { kind: 'partition', value }]));
  }
  const shares = Array.from({ length: settings.discoverySegments }, (_, number) => number);
  return new Map(shares.map((number) => [`segment-${number}`, { kind: 'share', number }]));
}

function writeCursor(last: Record<string, AttributeValue>): string {
  return JSON.stringify(Object.fromEntries(Object.entries(last).map(([name, value]) => [name, tagged(value)])));
}

function readCursor(cursor: string): Record<string, AttributeValue> {
  const entries = Object.entries(JSON.parse(cursor) as Record<string, string>);
  return Object.fromEntries(entries.map(([name, text]) => [name, untagged(text) ?? { S: '' }]));
}

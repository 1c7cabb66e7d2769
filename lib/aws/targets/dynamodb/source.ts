import {
  type AttributeValue,
  type DynamoDBClient,
  QueryCommand,
  type QueryCommandOutput,
  ScanCommand,
  type ScanCommandOutput,
} from '@aws-sdk/client-dynamodb';
import type { EpochMillis } from '../../../core/identity/instant.ts';
import { RefusedRequest } from '../../../core/plan/request.ts';
import type { Settings } from '../../../core/policy/settings.ts';
import type { RecordPage, RecordSource } from '../../../core/ports/record-source.ts';
import { portError } from '../../errors.ts';
import { describeTable, type TableFacts } from './describe.ts';
import { RecordReader } from './discovered.ts';
import { Placeholders } from './expression.ts';
import { partitionValues, upperBound } from './partition-values.ts';
import { discoveryIndex, tableProblems } from './table-problems.ts';
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
  readonly itemsPerPage?: number;
}

/** Looks at the table and opens it for discovery. Throws RefusedRequest where the settings do not fit it. */
export async function openRecordSource(options: RecordSourceOptions): Promise<RecordSource> {
  const table = await describeTable(options.client, options.settings.recordTableName);
  const problems = tableProblems(table, options.settings);
  if (problems.length > 0) throw new RefusedRequest(problems);
  return new DynamoRecordSource(table, options);
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
  readonly segments: readonly string[];
  readonly #table: TableFacts;
  readonly #options: RecordSourceOptions;
  readonly #reader: RecordReader;
  readonly #parts: ReadonlyMap<string, Part>;

  constructor(table: TableFacts, options: RecordSourceOptions) {
    this.#table = table;
    this.#options = options;
    this.#reader = new RecordReader(table, options.settings);
    this.#parts = partsOf(table, options.settings);
    this.segments = [...this.#parts.keys()];
    this.seesUnreadable = options.settings.recordIndexName === '';
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
    const { stateAttribute, eligibleState } = this.#options.settings;
    const filter = `${placeholders.name(stateAttribute)} = ${placeholders.value({ S: eligibleState })}`;
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
      `${placeholders.name(settings.timestampAttribute)} <= ${bound}`,
    ].join(' AND ');
    // A Query may not filter by a key of its index; the reader leaves other states out in any case.
    const filter =
      partition?.name === settings.stateAttribute
        ? { ExpressionAttributeNames: placeholders.names, ExpressionAttributeValues: placeholders.values }
        : this.#stateFilter(placeholders);
    return { ...this.#common(), KeyConditionExpression: condition, ...filter };
  }
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

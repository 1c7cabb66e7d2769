import { setTimeout as pause } from 'node:timers/promises';
import { type DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { EpochMillis } from '../../lib/core/identity/instant.ts';
import type { Item } from '../../lib/local/records.ts';
import { waitFor } from '../../lib/local/wait.ts';
import { seededRandom } from '../random.ts';

/** Records by id, as whoever wrote last was told that they are. */
export type Records = Map<string, Item>;

/** What the path did, in updates. */
export interface Tally {
  readonly acknowledged: number;
  /** Refused, because the record was no longer active. */
  readonly tooLate: number;
  /** Acknowledged ones of records that the run had planned. */
  readonly ofPlanned: number;
}

const WRITERS = 3;
const PAUSE_MILLIS = 20;
const SHARE_OF_DUE = 0.7;
const DEADLINE_MILLIS = 60_000;

/**
 * The delivery path, which knows nothing of retention: it goes on updating active shipments while runs plan and work.
 * Every update is conditional on the record being active; what was acknowledged is noted in `records`.
 */
export class ShipmentPath {
  readonly #dynamo: DynamoDBClient;
  readonly #tableName: string;
  readonly #records: Records;
  readonly #now: () => EpochMillis;
  readonly #quiet: readonly string[];
  readonly #random = seededRandom(4_711);
  readonly #busy = new Set<string>();
  readonly #writers: readonly Promise<void>[];
  #due: string[] = [];
  #planned = new Set<string>();
  #acknowledged = 0;
  #tooLate = 0;
  #ofPlanned = 0;
  #stopped = false;

  /** Starts at once, on records that no run may plan: `quiet` are their ids. */
  constructor(
    dynamo: DynamoDBClient,
    tableName: string,
    records: Records,
    quiet: readonly string[],
    now: () => EpochMillis,
  ) {
    this.#dynamo = dynamo;
    this.#tableName = tableName;
    this.#records = records;
    this.#quiet = quiet;
    this.#now = now;
    this.#writers = Array.from({ length: WRITERS }, () => this.#write());
  }

  /** Turns to planned records too: to some of them once each, so that most stay due. Waits for the first such updates. */
  async turnTo(planned: readonly string[], updates: number): Promise<void> {
    this.#planned = new Set(planned);
    this.#due = planned.filter((id) => actOf(id) !== undefined);
    const wanted = Math.min(updates, Math.floor(this.#due.length / 3));
    await waitFor('the shipment path to reach planned records', DEADLINE_MILLIS, () =>
      this.#ofPlanned + this.#tooLate >= wanted ? true : undefined,
    );
  }

  /** Ends when no update is under way. */
  async stop(): Promise<Tally> {
    this.#stopped = true;
    await Promise.all(this.#writers);
    return { acknowledged: this.#acknowledged, tooLate: this.#tooLate, ofPlanned: this.#ofPlanned };
  }

  async #write(): Promise<void> {
    while (!this.#stopped) {
      const id = this.#next();
      if (id !== undefined && !this.#busy.has(id)) {
        // One update of a record at a time: else nobody could tell which was the last.
        this.#busy.add(id);
        await this.#update(id, this.#planned.has(id) ? (actOf(id) ?? 'note') : 'progress');
        this.#busy.delete(id);
      }
      await pause(PAUSE_MILLIS);
    }
  }

  #next(): string | undefined {
    if (this.#due.length > 0 && this.#random() < SHARE_OF_DUE) {
      return this.#due.splice(Math.floor(this.#random() * this.#due.length), 1)[0];
    }
    return this.#quiet[Math.floor(this.#random() * this.#quiet.length)];
  }

  async #update(id: string, act: Act): Promise<void> {
    const changes = CHANGES[act](this.#now(), this.#acknowledged);
    const names = Object.keys(changes);
    const command = new UpdateItemCommand({
      TableName: this.#tableName,
      Key: { id: { S: id } },
      UpdateExpression: `SET ${names.map((_, n) => `#${n} = :${n}`).join(', ')}`,
      ConditionExpression: '#status = :active',
      ExpressionAttributeNames: { '#status': 'status', ...Object.fromEntries(names.map((name, n) => [`#${n}`, name])) },
      ExpressionAttributeValues: {
        ':active': { S: 'ACTIVE' },
        ...Object.fromEntries(Object.values(changes).map((value, n) => [`:${n}`, value])),
      },
    });
    try {
      await this.#dynamo.send(command);
    } catch (error) {
      if ((error as Error).name !== 'ConditionalCheckFailedException') throw error;
      this.#tooLate += 1;
      return;
    }
    this.#records.set(id, { ...this.#records.get(id), ...changes });
    this.#acknowledged += 1;
    if (this.#planned.has(id)) this.#ofPlanned += 1;
  }
}

/** `note` changes nothing that a run looks at: such a record expires all the same, and keeps the note. */
type Act = 'progress' | 'dispute' | 'note';

const CHANGES: Readonly<Record<Act, (now: EpochMillis, n: number) => Item>> = {
  progress: (now, n) => ({ lastUpdate: { N: String(Math.floor(now / 1_000)) }, checkpoint: { S: `hub-${n}` } }),
  dispute: (_, n) => ({ openDispute: { S: `case-${n}` } }),
  note: (_, n) => ({ carrierNote: { S: `note-${n}` } }),
};

/** What the path does to a planned record; undefined where it leaves it alone. */
function actOf(id: string): Act | undefined {
  const drawn = (Number(id.slice(-6)) * 7) % 10;
  if (drawn === 0) return 'dispute';
  if (drawn === 1) return 'note';
  return drawn === 2 || drawn === 3 ? 'progress' : undefined;
}

import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { createMeter } from '../../../lib/aws/meter.ts';
import type { Settings } from '../../../lib/core/policy/settings.ts';
import type { Contender, Counted, Metering } from '../contender.ts';
import type { World } from '../store.ts';
import { meteredFor, Tally } from '../tally.ts';

/** The clients of an alternative and what is counted of it. */
export abstract class Alternative implements Contender {
  protected readonly world: World;
  protected readonly dynamo: DynamoDBClient;
  protected readonly sqs: SQSClient;
  protected readonly seen = { invocations: 1, changed: 0, skipped: 0, retries: 0 };
  readonly #tally: Tally;
  readonly #meter: ReturnType<typeof createMeter>;

  constructor(world: World, metering: Metering) {
    this.world = world;
    this.dynamo = new DynamoDBClient({});
    this.sqs = world.queue.client();
    this.#tally = new Tally(world.roleOf);
    for (const client of [this.dynamo, this.sqs]) this.#tally.watch(client);
    const { s, g } = world.shape;
    this.#meter = metering === 'units' ? meteredFor(this.dynamo, world.settings.recordTableName, s + g) : createMeter();
    if (metering === 'units') this.#meter.count(this.sqs);
  }

  abstract plan(): Promise<void>;
  abstract work(): Promise<void>;

  protected get settings(): Settings {
    return this.world.settings;
  }

  counted(): Counted {
    return { calls: this.#tally.take(), cost: this.#meter.take(), ...this.seen, logBytes: 0 };
  }
}

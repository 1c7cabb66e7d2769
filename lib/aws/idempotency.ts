import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency';
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Context } from 'aws-lambda';
import { IDEMPOTENCY_EXPIRY_DAYS } from '../core/policy/budget.ts';
import { PortError } from '../core/ports/failure.ts';
import type { Deadline, Idempotency, OnceResult, RememberedResult } from '../core/ports/services.ts';
import { classify, refusal } from './errors.ts';

export interface IdempotencyPorts {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  /** Of the invocation: an in-progress record is a lease for what is left of it (pitfall P42). */
  readonly deadline: Deadline;
}

// Without a prefix of our own the function's name would be part of every key, and a renamed function forget them all.
const KEY_PREFIX = 'ledgersweep';

const DAY_SECONDS = 86_400;

/** How the body ended, as it was and not as Powertools tells it. */
type Ended =
  | { readonly kind: 'result'; readonly result: RememberedResult }
  | { readonly kind: 'error'; readonly error: unknown };

/** The memory of deliveries, kept by Powertools in its own table. One per invocation. */
export class PowertoolsIdempotency implements Idempotency {
  readonly #store: DynamoDBPersistenceLayer;
  readonly #deadline: Deadline;

  constructor({ client, tableName, deadline }: IdempotencyPorts) {
    this.#store = new DynamoDBPersistenceLayer({ tableName, awsSdkV3Client: client });
    this.#deadline = deadline;
  }

  async once(key: string, body: () => Promise<RememberedResult>): Promise<OnceResult> {
    if (key === '') throw refusal('once', 'NoIdempotencyKey');
    if (this.#deadline.remainingMillis() <= 0) {
      throw new PortError('once', { class: 'deferred', error: 'OutOfTime' });
    }
    let ended: Ended | undefined;
    const work = async (_key: string): Promise<RememberedResult> => {
      try {
        const result = await body();
        ended = { kind: 'result', result };
        return result;
      } catch (error) {
        ended = { kind: 'error', error };
        throw error;
      }
    };
    try {
      const remembered = await makeIdempotent(work, this.#options())(key);
      return told(ended) ?? { kind: 'remembered', result: remembered };
    } catch (error) {
      return told(ended) ?? untold(error);
    }
  }

  #options() {
    const context = { getRemainingTimeInMillis: () => this.#deadline.remainingMillis() };
    const config = new IdempotencyConfig({
      expiresAfterSeconds: IDEMPOTENCY_EXPIRY_DAYS * DAY_SECONDS,
      throwOnNoIdempotencyKey: true,
      useLocalCache: false,
      hashFunction: 'sha256',
      lambdaContext: context as Context,
    });
    return { persistenceStore: this.#store, keyPrefix: KEY_PREFIX, config };
  }
}

/**
 * What a body that ran has to say, whatever happened to its record: deleting it can fail and would replace the body's
 * error, storing it can fail although the work is done.
 */
function told(ended: Ended | undefined): OnceResult | undefined {
  if (ended?.kind === 'error') throw ended.error;
  return ended === undefined ? undefined : { kind: 'ran', result: ended.result };
}

/** No body ran. Nothing is given up on a store that only saves work, so its failures are transient. */
function untold(error: unknown): OnceResult {
  const { name, cause } = error as { readonly name?: string; readonly cause?: unknown };
  if (name === 'IdempotencyAlreadyInProgressError') return { kind: 'in-progress-elsewhere' };
  throw new PortError('once', { ...classify(cause ?? error), class: 'transient' }, error);
}

import type { Context } from 'aws-lambda';
import type { Deadline } from '../core/ports/services.ts';
import { type ClientOptions, makeDynamoDB, makeLambda, makeSecretsManager, makeSqs } from './clients.ts';
import { type Environment, type Resource, readResources, readRetentionDays } from './environment.ts';
import { DynamoLedger } from './ledger/ledger.ts';
import { createLog } from './log.ts';
import { createMeter, type UnitMeter } from './meter.ts';
import { SqsQueue } from './queue.ts';
import { SecretsManagerSigner } from './signer.ts';
import { systemClock, systemRandom } from './system.ts';

/** The adapters that every function of the pipeline shares; made once per process. */
export function createProcess<R extends Resource>(env: Environment, wanted: readonly R[]) {
  const names = readResources(env, [...wanted, 'ledgerTable', 'signingSecretArn', 'workQueueUrl']);
  const meter: UnitMeter = createMeter();
  const dynamo = makeDynamoDB({ meter });
  const deadLetters = env.DEAD_LETTER_QUEUE_URL;
  return {
    names,
    meter,
    dynamo,
    clock: systemClock,
    random: systemRandom,
    log: createLog({ policyId: env.SWEEP_POLICY_ID ?? '', policyVersion: env.SWEEP_POLICY_VERSION ?? '' }),
    ledger: new DynamoLedger({
      client: dynamo,
      tableName: names.ledgerTable,
      clock: systemClock,
      random: systemRandom,
      retentionDays: readRetentionDays(env),
    }),
    queue: new SqsQueue({
      client: makeSqs({ meter }),
      workQueueUrl: names.workQueueUrl,
      ...(deadLetters === undefined ? {} : { deadLetterQueueUrl: deadLetters }),
    }),
    signer: new SecretsManagerSigner({
      client: makeSecretsManager({ meter }),
      secretArn: names.signingSecretArn,
      clock: systemClock,
    }),
    lambda: (limits: NonNullable<ClientOptions['limits']> = {}) => makeLambda({ meter, limits }),
  };
}

/** What is left of an invocation. */
export function deadlineOf(context: Pick<Context, 'getRemainingTimeInMillis'>): Deadline {
  return { remainingMillis: () => context.getRemainingTimeInMillis() };
}

import type { Context } from 'aws-lambda';
import type { Deadline, Log } from '../core/ports/services.ts';
import { makeDynamoDB, makeLogs, makeSecretsManager, makeSqs } from './clients.ts';
import { type Environment, type Resource, readResources, readRetentionDays } from './environment.ts';
import { DynamoLedger } from './ledger/ledger.ts';
import { createLog } from './log.ts';
import { createMeter, type UnitMeter } from './meter.ts';
import { SqsQueue } from './queue.ts';
import { SecretsManagerSigner } from './signer.ts';
import { systemClock, systemRandom } from './system.ts';
import { TerminalLog } from './terminal-log.ts';

/** Short: the invocation's answer waits for it. */
const LOG_LIMITS = { connectMillis: 500, requestMillis: 900, maxAttempts: 2 };

/** The adapters that every function of the pipeline shares; made once per process. */
export function createProcess<R extends Resource>(env: Environment, wanted: readonly R[]) {
  const names = readResources(env, [...wanted, 'ledgerTable', 'signingSecretArn', 'workQueueUrl', 'terminalLogGroup']);
  const meter: UnitMeter = createMeter();
  const dynamo = makeDynamoDB({ meter });
  const deadLetters = env.DEAD_LETTER_QUEUE_URL;
  const terminal = new TerminalLog({
    client: makeLogs({ limits: LOG_LIMITS }),
    clock: systemClock,
    groupName: names.terminalLogGroup,
    functionName: env.AWS_LAMBDA_FUNCTION_NAME ?? 'local',
  });
  const common = { policyId: env.SWEEP_POLICY_ID ?? '', policyVersion: env.SWEEP_POLICY_VERSION ?? '' };
  const log = createLog(common, terminal);
  return {
    names,
    meter,
    dynamo,
    policyId: common.policyId,
    clock: systemClock,
    random: systemRandom,
    log,
    /** Does the work of one invocation, and sends its terminal events before Lambda freezes the process. */
    invocation: <T>(deadline: Deadline, work: () => Promise<T>) => flushedAfter(terminal, log, deadline, work),
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
  };
}

/** Whatever became of the work; a log that cannot be reached is no reason to do it again. */
export async function flushedAfter<T>(
  terminal: Pick<TerminalLog, 'flush'>,
  log: Log,
  deadline: Deadline,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } finally {
    const flushed = await terminal.flush(deadline);
    if (flushed.kind === 'failed') {
      const { error, kept, lost } = flushed;
      log.event('error', 'terminal_log_failed', { errorClass: error, kept, lost });
    }
  }
}

/** What is left of an invocation. */
export function deadlineOf(context: Pick<Context, 'getRemainingTimeInMillis'>): Deadline {
  return { remainingMillis: () => context.getRemainingTimeInMillis() };
}

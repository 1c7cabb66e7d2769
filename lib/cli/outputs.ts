import { CliError, EXIT } from './exit.ts';

/** The stack outputs that the commands need; the stack writes them. */
export interface PipelineOutputs {
  readonly stackName: string;
  readonly policyId: string;
  readonly policyVersion: string;
  /** Mode in which new runs start. */
  readonly mode: string;
  /** What new runs do to a record. */
  readonly action: string;
  readonly recordTableName: string;
  readonly ledgerTableName: string;
  readonly workQueueUrl: string;
  readonly deadLetterQueueUrl: string;
  readonly dispatcherFunctionName: string;
  readonly redriveFunctionName: string;
}

const NAMES = {
  policyId: 'PolicyId',
  policyVersion: 'PolicyVersion',
  mode: 'Mode',
  action: 'Action',
  recordTableName: 'RecordTableName',
  ledgerTableName: 'LedgerTableName',
  workQueueUrl: 'WorkQueueUrl',
  deadLetterQueueUrl: 'DeadLetterQueueUrl',
  dispatcherFunctionName: 'DispatcherFunctionName',
  redriveFunctionName: 'RedriveFunctionName',
} as const satisfies Record<Exclude<keyof PipelineOutputs, 'stackName'>, string>;

/** Reads a stack's outputs; throws a CliError that names what is missing. */
export function readOutputs(stackName: string, values: ReadonlyMap<string, string>): PipelineOutputs {
  const missing = Object.values(NAMES).filter((name) => !values.has(name));
  if (missing.length > 0) {
    throw new CliError(
      EXIT.nothing,
      `Stack ${stackName} is no Ledgersweep pipeline, or of another version: it has no output ${missing.join(', ')}. ` +
        'Name the right stack with --stack or SWEEP_STACK, or deploy it again.',
    );
  }
  const read = Object.entries(NAMES).map(([key, name]) => [key, values.get(name) ?? '']);
  return { stackName, ...Object.fromEntries(read) } as PipelineOutputs;
}

import { DeleteItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { batchUnit } from '../../core/identity/keys.ts';
import type { RunItem } from '../../core/ledger/items.ts';
import type { BatchReference } from '../../core/publish/reference.ts';
import { sendReferences } from '../../core/publish/send.ts';
import { everyItem } from '../../core/read/pages.ts';
import type { Progress } from '../cdk.ts';
import { armCrash, setFeed } from '../faults.ts';
import { outputOf, type Pipeline } from './pipeline.ts';
import { ATTRIBUTES } from './policy.ts';
import type { Case } from './verdict.ts';

/** A run that was planned and then disturbed, and is being carried out. */
export interface Disturbed {
  readonly run: RunItem;
  /** Once its batches are done: what was done to the run, and what did not happen that should have. */
  aftermath(): Promise<{ readonly remarks: readonly string[]; readonly differences: readonly string[] }>;
}

const EVERY_NTH_MESSAGE = 4;
/** Somewhere in the middle, after writes whose answer is then lost. */
const CRASH = { target: 'DynamoDB_20120810.BatchExecuteStatement', when: 'after', nth: 6 } as const;

/**
 * Shows that a run bears what happens in life: between its plan and its first write people act on records as the
 * cases say, messages come twice, and one delivery crashes in the middle of its batch.
 */
export async function disturb(
  pipeline: Pipeline,
  cases: readonly Case[],
  plan: () => Promise<RunItem>,
  progress: Progress,
): Promise<Disturbed> {
  const { aws, outputs } = pipeline;
  const consumer = outputOf(outputs, 'ConsumerFunctionName');
  await setFeed(aws, consumer, 'off');
  const run = await plan();
  if (run.status !== 'draining') return { run, aftermath: async () => ({ remarks: [], differences: [] }) };
  const touched = await letPeopleAct(pipeline, run.settings.recordTableName, cases);
  const doubled = await doubleMessages(pipeline, run);
  const crash = await armCrash(aws, { functionName: consumer, ...CRASH });
  progress(
    `${touched} records were changed since the plan, ${doubled} messages are there twice, one delivery will crash`,
  );
  await setFeed(aws, consumer, 'on');
  progress('the crashed delivery comes back when its visibility timeout of 60 s is over');
  return {
    run,
    aftermath: async () => {
      const cameBack = await unitsThatCameBack(pipeline, run.runId);
      await crash.disarm();
      return {
        differences:
          crash.happened() && cameBack > 0 ? [] : ['the delivery that was to crash did not, or did not come back'],
        remarks: [
          `${touched} records were reactivated, held, released or removed by people between plan and write`,
          `${doubled} messages were delivered twice`,
          `1 delivery was killed after a write, its answer unread; batches that took a second attempt: ${cameBack}`,
        ],
      };
    },
  };
}

/** People act on records between the plan and the first write, as the cases say; gives how many records. */
async function letPeopleAct({ dynamo }: Pipeline, tableName: string, cases: readonly Case[]): Promise<number> {
  const touched = cases.filter(({ loaded, left }) => left !== loaded);
  for (const { loaded, left } of touched) {
    const { key } = ATTRIBUTES;
    const act =
      left === undefined
        ? new DeleteItemCommand({ TableName: tableName, Key: { [key]: loaded[key] ?? { S: '' } } })
        : new PutItemCommand({ TableName: tableName, Item: left });
    await dynamo.send(act as PutItemCommand);
  }
  return touched.length;
}

/** Sends every so manieth message of a published run once more; gives how many. */
async function doubleMessages({ ledger, sending }: Pipeline, run: RunItem): Promise<number> {
  const batches = run.plan?.batches ?? 0;
  const references: BatchReference[] = [];
  for (let ordinal = 0; ordinal < batches; ordinal += EVERY_NTH_MESSAGE) {
    const [slice] = await ledger.slices(run.runId, ordinal, ordinal + 1);
    if (slice === undefined) throw new Error(`Slice ${ordinal} of run ${run.runId} is not there.`);
    const { runId, cutoff, policyVersion } = run;
    references.push({ runId, cutoff, policyVersion, tenant: slice.tenant, unit: batchUnit(ordinal), generation: 0 });
  }
  const unconfirmed = await sendReferences(sending, references);
  if (unconfirmed.length > 0) throw new Error(`${unconfirmed.length} copies were not taken by the queue.`);
  return references.length;
}

/** Batches that took more than one attempt. */
async function unitsThatCameBack({ ledger }: Pipeline, runId: string): Promise<number> {
  let count = 0;
  for await (const unit of everyItem((cursor) => ledger.units(runId, cursor))) if (unit.attempts > 1) count += 1;
  return count;
}

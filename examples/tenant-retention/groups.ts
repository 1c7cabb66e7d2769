import { ChangeMessageVisibilityCommand, type Message, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { RunItem, UnitItem } from '../../lib/core/ledger/items.ts';
import { everyItem } from '../../lib/core/read/pages.ts';
import { clientConfig } from '../../lib/local/access.ts';
import { outputOf, type Pipeline } from '../../lib/local/up/pipeline.ts';
import { waitFor } from '../../lib/local/wait.ts';

const HIDDEN_SECONDS = 60;
const DEADLINE_MILLIS = 40_000;

/** Message groups of the work queue by tenant, read off the messages themselves. Nobody else may be receiving. */
export async function groupsOf(
  { aws, outputs }: Pipeline,
  { plan }: RunItem,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const sqs = new SQSClient(clientConfig(aws));
  const QueueUrl = outputOf(outputs, 'WorkQueueUrl');
  const seen = new Map<string, Message>();
  await waitFor('every message of the plan', DEADLINE_MILLIS, async () => {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: 10,
        VisibilityTimeout: HIDDEN_SECONDS,
        MessageSystemAttributeNames: ['MessageGroupId'],
      }),
    );
    for (const message of Messages) seen.set(message.MessageId ?? '', message);
    return seen.size >= (plan?.batches ?? 0) ? true : undefined;
  });
  const groups = new Map<string, Set<string>>();
  for (const { Body = '{}', Attributes, ReceiptHandle } of seen.values()) {
    const { tenant = '' } = JSON.parse(Body) as { tenant?: string };
    groups.set(tenant, (groups.get(tenant) ?? new Set()).add(Attributes?.MessageGroupId ?? 'none'));
    await sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }));
  }
  return groups;
}

/** Each tenant must have a group of its own, and only one: that is what a fair queue goes by. */
export function compareGroups(groups: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  const all = [...groups.values()].flatMap((its) => [...its]);
  const several = [...groups].filter(([, its]) => its.size !== 1).map(([tenant]) => tenant);
  return [
    ...several.map((tenant) => `the messages of ${tenant} are in several groups`),
    ...(all.includes('none') ? ['a message has no group'] : []),
    ...(new Set(all).size === groups.size ? [] : ['tenants share a message group']),
  ];
}

export interface Completion {
  readonly tenant: string;
  readonly records: number;
  /** From the first start of any batch to the end of the tenant's last one. */
  readonly seconds: number;
}

/** Tenants in the order in which their last batch was finished. */
export async function completionOrder({ ledger }: Pipeline, runId: string): Promise<readonly Completion[]> {
  const byTenant = new Map<string, UnitItem[]>();
  let first = Number.POSITIVE_INFINITY;
  for await (const unit of everyItem((cursor) => ledger.units(runId, cursor))) {
    byTenant.set(unit.tenant, [...(byTenant.get(unit.tenant) ?? []), unit]);
    first = Math.min(first, unit.startedAt ?? first);
  }
  const completions = [...byTenant].map(([tenant, units]) => ({
    tenant,
    records: units.reduce((sum, { records }) => sum + records, 0),
    seconds: (Math.max(...units.map(({ finishedAt }) => finishedAt ?? first)) - first) / 1_000,
  }));
  return completions.sort((a, b) => a.seconds - b.seconds);
}

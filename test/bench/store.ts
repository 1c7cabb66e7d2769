import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { CreateQueueCommand, DeleteMessageBatchCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Delivery } from '../../lib/core/consume/delivery.ts';
import { createRecordTable, type Item, loadRecords } from '../../lib/local/records.ts';
import { createLedgerTable } from '../contract/ledger-dynamo.ts';

/** The stores of one bench run. Its own clients are not metered: loading and the event source mapping cost us nothing. */
export interface BenchStore {
  readonly ledgerTable: string;
  readonly idempotencyTable: string;
  readonly recordTable: string;
  readonly workQueueUrl: string;
  readonly deadLetterQueueUrl: string;
  readonly secretArn: string;
}

const clients = () => ({
  dynamo: new DynamoDBClient({}),
  sqs: new SQSClient({}),
  secrets: new SecretsManagerClient({}),
});

async function createQueue(sqs: SQSClient, name: string): Promise<string> {
  const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName: name }));
  return QueueUrl;
}

/** Makes every store and loads the records. */
export async function createStore(name: string, records: Iterable<Item>): Promise<BenchStore> {
  const { dynamo, sqs, secrets } = clients();
  const recordTable = `${name}-records`;
  const idempotencyTable = `${name}-idempotency`;
  await createRecordTable(dynamo, { name: recordTable, partitionKey: 'id' });
  await dynamo.send(
    new CreateTableCommand({
      TableName: idempotencyTable,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    }),
  );
  await loadRecords(dynamo, recordTable, records);
  const { ARN = '' } = await secrets.send(
    new CreateSecretCommand({ Name: name, SecretString: JSON.stringify({ current: 'k1', k1: 'k'.repeat(64) }) }),
  );
  return {
    ledgerTable: await createLedgerTable(dynamo),
    idempotencyTable,
    recordTable,
    workQueueUrl: await createQueue(sqs, `${name}-work`),
    deadLetterQueueUrl: await createQueue(sqs, `${name}-dead-letters`),
    secretArn: ARN,
  };
}

/** Plays the event source mapping: hands over up to `most` messages; deletes those that `work` acknowledged. */
export async function feed(
  queueUrl: string,
  most: number,
  work: (deliveries: readonly Delivery[]) => Promise<ReadonlySet<string>>,
): Promise<number> {
  const { sqs } = clients();
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: most,
      MessageSystemAttributeNames: ['ApproximateReceiveCount'],
    }),
  );
  if (Messages.length === 0) return 0;
  const done = await work(
    Messages.map(({ MessageId = '', ReceiptHandle = '', Body = '', Attributes }) => ({
      messageId: MessageId,
      handle: ReceiptHandle,
      body: Body,
      receiveCount: Number(Attributes?.ApproximateReceiveCount ?? 1),
      labels: {},
    })),
  );
  const acknowledged = Messages.filter(({ MessageId = '' }) => done.has(MessageId));
  if (acknowledged.length > 0) {
    await sqs.send(
      new DeleteMessageBatchCommand({
        QueueUrl: queueUrl,
        Entries: acknowledged.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle })),
      }),
    );
  }
  return Messages.length;
}

// Run as a process of its own, with nothing but the variables that `--json` gives: looks at what a local run left up.
import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';

const [table, ...queues] = process.argv.slice(2);
const items: unknown[] = [];
for await (const page of paginateScan({ client: new DynamoDBClient() }, { TableName: table })) {
  items.push(...(page.Items ?? []));
}
const sqs = new SQSClient();
const depths = await Promise.all(
  queues.map(async (QueueUrl) => {
    const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] });
    const { Attributes = {} } = await sqs.send(command);
    const counts = Object.entries(Attributes).filter(([name]) => name.startsWith('ApproximateNumberOf'));
    return counts.reduce((sum, [, count]) => sum + Number(count), 0);
  }),
);
process.stdout.write(JSON.stringify({ items, depths }));

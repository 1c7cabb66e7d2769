import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoLedger } from '../../aws/ledger/ledger.ts';
import { SqsQueue } from '../../aws/queue.ts';
import { SecretsManagerSigner } from '../../aws/signer.ts';
import { systemClock, systemRandom } from '../../aws/system.ts';
import type { Ledger } from '../../core/ports/index.ts';
import type { SendPorts } from '../../core/publish/send.ts';
import { clientConfig } from '../access.ts';
import type { StackOutputs } from '../cdk.ts';
import type { LocalAws } from '../server.ts';

/** A pipeline that is deployed on a local AWS, as the account's root sees it. */
export interface Pipeline {
  readonly aws: LocalAws;
  readonly stackName: string;
  readonly outputs: StackOutputs;
  readonly dynamo: DynamoDBClient;
  readonly ledger: Ledger;
  /** To send messages as the publisher does, signed with the deployed keys. */
  readonly sending: SendPorts & { readonly queue: SqsQueue };
}

/** The process must be pointed at the local AWS before. */
export function connect(aws: LocalAws, stackName: string, outputs: StackOutputs): Pipeline {
  const config = clientConfig(aws);
  const dynamo = new DynamoDBClient(config);
  const output = (name: string) => outputOf(outputs, name);
  return {
    aws,
    stackName,
    outputs,
    dynamo,
    ledger: new DynamoLedger({
      client: dynamo,
      tableName: output('LedgerTableName'),
      clock: systemClock,
      random: systemRandom,
    }),
    sending: {
      queue: new SqsQueue({
        client: new SQSClient(config),
        workQueueUrl: output('WorkQueueUrl'),
        deadLetterQueueUrl: output('DeadLetterQueueUrl'),
      }),
      signer: new SecretsManagerSigner({
        client: new SecretsManagerClient(config),
        secretArn: output('SigningSecretArn'),
        clock: systemClock,
      }),
      clock: systemClock,
      random: systemRandom,
    },
  };
}

export function outputOf(outputs: StackOutputs, name: string): string {
  const value = outputs[name];
  if (value === undefined) throw new Error(`The stack has no output ${name}.`);
  return value;
}

/** Invokes a deployed function and gives its answer. Throws with its error where it failed. */
export async function invoke(aws: LocalAws, functionName: string, event: object): Promise<unknown> {
  const lambda = new LambdaClient(clientConfig(aws));
  const answer = await lambda.send(
    new InvokeCommand({ FunctionName: functionName, Payload: Buffer.from(JSON.stringify(event)) }),
  );
  const text = Buffer.from(answer.Payload ?? []).toString();
  if (answer.FunctionError !== undefined) throw new Error(`${functionName} failed: ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

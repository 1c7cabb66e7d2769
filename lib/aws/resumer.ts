import type { LambdaClient } from '@aws-sdk/client-lambda';
import { formatInstant } from '../core/identity/instant.ts';
import type { Resumer, Resumption } from '../core/ports/services.ts';
import { portCall } from './errors.ts';
import { InvokeCommand } from './lambda.ts';

/** What the dispatcher receives from the reconciler, in place of the schedule's own event. */
export interface ResumeEvent {
  /** ISO-8601. */
  readonly scheduledTime: string;
  readonly runId: string;
  readonly resumedBy: 'reconciler';
}

/** Invokes the dispatcher asynchronously: accepted means queued, not run. */
export class LambdaResumer implements Resumer {
  readonly #client: LambdaClient;
  readonly #functionName: string;

  constructor(client: LambdaClient, functionName: string) {
    this.#client = client;
    this.#functionName = functionName;
  }

  async resume({ runId, scheduledTime }: Resumption): Promise<void> {
    const event: ResumeEvent = { scheduledTime: formatInstant(scheduledTime), runId, resumedBy: 'reconciler' };
    const command = new InvokeCommand({
      FunctionName: this.#functionName,
      InvocationType: 'Event',
      Payload: Buffer.from(JSON.stringify(event)),
    });
    await portCall('resume', () => this.#client.send(command));
  }
}

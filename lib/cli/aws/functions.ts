import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { makeClient } from '../../aws/clients.ts';
import type { Answer, Functions } from '../world.ts';

/** Longer than any function may run. */
const ANSWER_MILLIS = 16 * 60_000;

/** The deployed functions behind the Lambda API. */
export class LambdaFunctions implements Functions {
  readonly #starting = makeClient(LambdaClient, { limits: { requestMillis: 20_000 } });
  // One attempt: a call whose answer was lost may have done its work.
  readonly #calling = makeClient(LambdaClient, { limits: { requestMillis: ANSWER_MILLIS, maxAttempts: 1 } });

  async call(functionName: string, event: object): Promise<Answer> {
    const { FunctionError, Payload } = await this.#calling.send(
      new InvokeCommand({ FunctionName: functionName, InvocationType: 'RequestResponse', Payload: bytes(event) }),
    );
    const value = parse(Payload);
    return FunctionError === undefined ? { kind: 'answered', value } : failed(value, FunctionError);
  }

  async start(functionName: string, event: object): Promise<void> {
    await this.#starting.send(
      new InvokeCommand({ FunctionName: functionName, InvocationType: 'Event', Payload: bytes(event) }),
    );
  }
}

function bytes(event: object): Uint8Array {
  return Buffer.from(JSON.stringify(event));
}

function parse(payload: Uint8Array | undefined): unknown {
  try {
    return JSON.parse(Buffer.from(payload ?? []).toString());
  } catch {
    return undefined;
  }
}

function failed(value: unknown, functionError: string): Answer {
  const { errorType, errorMessage } = (value ?? {}) as {
    readonly errorType?: unknown;
    readonly errorMessage?: unknown;
  };
  return {
    kind: 'failed',
    errorType: typeof errorType === 'string' ? errorType : functionError,
    errorMessage: typeof errorMessage === 'string' ? errorMessage : 'no message.',
  };
}

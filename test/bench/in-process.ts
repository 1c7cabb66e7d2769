import type { SQSClientConfig } from '@aws-sdk/client-sqs';

interface Request {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

const TEXT = new TextDecoder();

type Answer = (operation: string, input: Readonly<Record<string, unknown>>) => object | Promise<object>;

/**
 * Configuration of a client whose calls are answered within this process: it still makes, signs and reads each of them.
 * For services that speak JSON.
 */
export function answeredBy(answer: Answer): Pick<SQSClientConfig, 'endpoint' | 'region' | 'requestHandler'> {
  const handle = async ({ headers, body = '' }: Request) => {
    const operation = headers['x-amz-target']?.split('.')[1] ?? '';
    const output = await answer(operation, JSON.parse(typeof body === 'string' ? body : TEXT.decode(body)));
    const response = {
      statusCode: 200,
      headers: { 'content-type': 'application/x-amz-json-1.0' },
      body: Buffer.from(JSON.stringify(output)),
    };
    return { response };
  };
  return { endpoint: 'http://in-process.invalid', region: 'us-east-1', requestHandler: { handle } as never };
}

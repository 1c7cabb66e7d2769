import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An AWS service on the loopback address, as far as one test needs it. */
export interface Loopback {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** The JSON protocol's target, such as `PutItem`, and the parsed body. */
export type Answer = (target: string, body: Record<string, unknown>, response: ServerResponse) => void;

export async function startLoopback(answer: Answer): Promise<Loopback> {
  const server = createServer(async (request: IncomingMessage, response) => {
    const chunks: Buffer[] = await request.toArray();
    const target = String(request.headers['x-amz-target']).split('.').at(-1) ?? '';
    answer(target, JSON.parse(Buffer.concat(chunks).toString() || '{}'), response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body));
}

export function replyError(response: ServerResponse, status: number, name: string, more: object = {}): void {
  reply(response, status, { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'no', ...more });
}

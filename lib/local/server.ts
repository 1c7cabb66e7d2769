import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import type { Socket } from 'node:net';
import { delimiter, join } from 'node:path';
import { type Certificate, makeCertificate } from './certificate.ts';
import { LOCAL_HOME, NODE_BIN } from './paths.ts';
import { prepare } from './python.ts';
import { endGroup, isRunning, keptRuns, type LocalAwsRecord, makeRunFolder, writeRecord } from './runs.ts';
import { waitFor } from './wait.ts';

const REGION = 'us-east-1';
const ACCOUNT = '000000000000';
/** MiniStack's own root key: no role may use it, and nothing outside the loopback address can reach it. */
const ROOT = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };

const START_DEADLINE_MILLIS = 60_000;
const STOP_DEADLINE_MILLIS = 10_000;
const HEALTH_TIMEOUT_MILLIS = 2_000;

export interface LocalAws extends LocalAwsRecord {
  /** `account`: no local AWS at all, but the account that this process's own environment names. */
  readonly reach?: 'account';
  /** In PEM form; the only certificate that its endpoint answers with. */
  readonly certificate: string;
  /** Kills the server with all it started and removes the run's folder. May be called again. */
  stop(): Promise<void>;
}

/** A local AWS that ends with this process unless it is kept. */
export interface OwnLocalAws extends LocalAws {
  /** Lets it outlive this process; `down` ends it. */
  keep(): void;
}

export interface StartOptions {
  /** Folder that the run's own folder goes into; the checkout's `.local` unless given. */
  readonly home?: string;
  readonly progress?: (line: string) => void;
}

/** Starts a local AWS of its own on a free port of 127.0.0.1, IAM enforced and over TLS, and waits until it answers. */
export async function startLocalAws({ home = LOCAL_HOME, progress }: StartOptions = {}): Promise<OwnLocalAws> {
  const python = await prepare(LOCAL_HOME, progress);
  const folder = makeRunFolder(home);
  const certificate = await makeCertificate(folder);
  const child = launch(python, folder, certificate);
  try {
    const port = await readPort(child, folder);
    const record = describe(folder, child.pid ?? 0, `https://127.0.0.1:${port}`, certificate);
    await waitUntilHealthy(record.endpoint, certificate.certificate, child, folder);
    writeRecord(record);
    letGo(child);
    const atExit = (code: number) => endAtExit(record, code);
    process.once('exit', atExit);
    const keep = () => {
      process.off('exit', atExit);
      child.stdin?.end('keep\n');
      writeRecord({ ...record, kept: true });
    };
    return { ...attach(record), keep };
  } catch (error) {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    throw error;
  }
}

/** Takes up a local AWS that another process started. */
export function attach(record: LocalAwsRecord): LocalAws {
  const certificate = readFileSync(certificateFile(record.folder), 'utf8');
  return {
    ...record,
    certificate,
    stop: async () => {
      endGroup(record);
      await waitFor('the local AWS to end', STOP_DEADLINE_MILLIS, () => (isRunning(record) ? undefined : true));
      removeFolder(record);
    },
  };
}

/** Ends every local AWS that was kept; gives those that it ended. */
export async function endKept(home = LOCAL_HOME): Promise<readonly LocalAwsRecord[]> {
  const kept = keptRuns(home);
  await Promise.all(kept.map((record) => attach(record).stop()));
  return kept;
}

/** Where the server's own words go. */
export function logFile(folder: string): string {
  return join(folder, 'server.log');
}

function certificateFile(folder: string): string {
  return join(folder, 'certificate.pem');
}

function describe(folder: string, pid: number, endpoint: string, certificate: Certificate): LocalAwsRecord {
  const env = {
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: REGION,
    AWS_DEFAULT_REGION: REGION,
    ...ROOT,
    NODE_EXTRA_CA_CERTS: certificate.certificateFile,
    AWS_CA_BUNDLE: certificate.certificateFile,
  };
  return { folder, pid, endpoint, region: REGION, account: ACCOUNT, kept: false, env };
}

/**
 * The server's environment becomes the environment of every function on it, so nothing of ours is in it but the
 * search path and the language.
 */
function serverEnvironment(folder: string, certificate: Certificate): NodeJS.ProcessEnv {
  const { PATH = '', LANG, LD_LIBRARY_PATH } = process.env;
  return {
    PATH: NODE_BIN + delimiter + PATH,
    ...(LANG === undefined ? {} : { LANG }),
    ...(LD_LIBRARY_PATH === undefined ? {} : { LD_LIBRARY_PATH }),
    ...ROOT,
    TZ: 'UTC',
    HOME: join(folder, 'home'),
    TMPDIR: join(folder, 'tmp'),
    STATE_DIR: join(folder, 'state'),
    S3_DATA_DIR: join(folder, 'state', 's3'),
    AUTH: 'true',
    USE_SSL: '1',
    MINISTACK_SSL_CERT: certificate.certificateFile,
    MINISTACK_SSL_KEY: certificate.keyFile,
    MINISTACK_HOST: '127.0.0.1',
    MINISTACK_REGION: REGION,
    MINISTACK_ACCOUNT_ID: ACCOUNT,
    NODE_EXTRA_CA_CERTS: certificate.certificateFile,
    AWS_CA_BUNDLE: certificate.certificateFile,
    BIND_HOST: '127.0.0.1',
    IOT_MTLS_ENABLED: '0',
    LAMBDA_EXECUTOR: 'local',
    // At its start and end MiniStack removes its containers from any Docker it finds; those would be other people's.
    DOCKER_HOST: `unix://${join(folder, 'no-docker.sock')}`,
    PYTHONDONTWRITEBYTECODE: '1',
  };
}

/** In a process group of its own (`detached`), so that it and all it starts can be ended as one. */
function launch(python: string, folder: string, certificate: Certificate): ChildProcess {
  const log = openSync(logFile(folder), 'a');
  try {
    return spawn(python, [join(import.meta.dirname, 'serve.py'), folder], {
      cwd: folder,
      env: serverEnvironment(folder, certificate),
      stdio: ['pipe', 'pipe', log],
      detached: true,
    });
  } finally {
    closeSync(log);
  }
}

/** What a failed run left is worth a look; what a good one left is not. */
function endAtExit(record: LocalAwsRecord, code: number): void {
  endGroup(record);
  if (code === 0) removeFolder(record);
}

function removeFolder(record: LocalAwsRecord): void {
  rmSync(record.folder, { recursive: true, force: true, maxRetries: 5 });
}

/** It must not hold this process up: where nobody stops it, it ends when this process does. */
function letGo(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdin, child.stdout]) (stream as Socket | null)?.unref();
}

function readPort(child: ChildProcess, folder: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = '';
    const ended = () => reject(new Error(ending(folder)));
    child.once('error', reject);
    child.once('exit', ended);
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const port = /^(\d+)\n/.exec(text)?.[1];
      if (port === undefined) return;
      child.off('exit', ended);
      resolve(Number(port));
    });
  });
}

function ending(folder: string): string {
  const lines = readFileSync(logFile(folder), 'utf8').trimEnd().split('\n').slice(-15).join('\n');
  return `The local AWS ended at its start. The end of its log (${logFile(folder)}):\n${lines}`;
}

async function waitUntilHealthy(endpoint: string, ca: string, child: ChildProcess, folder: string): Promise<void> {
  const health = await waitFor(`the local AWS at ${endpoint}`, START_DEADLINE_MILLIS, () => {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(ending(folder));
    return readHealth(endpoint, ca);
  });
  if (health.auth !== 'enabled') throw new Error('The local AWS does not enforce IAM.');
}

function readHealth(endpoint: string, ca: string): Promise<{ auth?: string } | undefined> {
  return new Promise((resolve) => {
    const asked = request(`${endpoint}/_ministack/health`, { ca, timeout: HEALTH_TIMEOUT_MILLIS, agent: false });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => resolve(undefined));
    asked.on('response', async (response) => {
      const chunks: Buffer[] = await response.toArray();
      resolve(response.statusCode === 200 ? JSON.parse(Buffer.concat(chunks).toString()) : undefined);
    });
    asked.end();
  });
}

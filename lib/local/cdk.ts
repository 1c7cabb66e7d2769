import { mkdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { environmentOf } from './access.ts';
import { spawnOwned } from './child.ts';
import { NODE_BIN, REPOSITORY } from './paths.ts';
import type { LocalAws } from './server.ts';

export type Progress = (line: string) => void;

/** The cdk command ended with an error; its last words are in the message. */
export class CdkFailed extends Error {
  override name = 'CdkFailed';
}

export interface SynthesizeOptions {
  /** CDK context by key. */
  readonly context?: Readonly<Record<string, string>>;
  readonly progress?: Progress;
}

export interface DeployOptions extends SynthesizeOptions {
  readonly stackName: string;
  /** CloudFormation parameters by name. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Command that synthesises the app, or a folder that was synthesised before; `cdk.json` says it unless given. */
  readonly app?: string;
}

export type StackOutputs = Readonly<Record<string, string>>;

const LAST_WORDS_LINES = 25;

const QUIET = { CDK_DISABLE_CLI_TELEMETRY: 'true', CDK_DISABLE_VERSION_CHECK: '1' };

/** Prepares the account for `deploy`, once per local AWS. */
export async function bootstrap(aws: LocalAws, progress: Progress = () => {}): Promise<void> {
  // Beside a cdk.json the command would synthesise the app first, for nothing.
  await cdk(aws, aws.folder, ['bootstrap', `aws://${aws.account}/${aws.region}`], progress);
}

/** Synthesises the app, bundles and all, into `appFolder`, for deployments to come. */
export async function synthesize(aws: LocalAws, options: SynthesizeOptions = {}): Promise<void> {
  const args = ['synth', '--quiet', '--output', appFolder(aws), ...given('--context', options.context)];
  await cdk(aws, REPOSITORY, args, options.progress ?? (() => {}));
}

/** Where `synthesize` leaves the app. */
export function appFolder(aws: LocalAws): string {
  return join(aws.folder, 'cdk', 'app');
}

/** Deploys by the real `cdk deploy` into an account that is bootstrapped; gives the stack's outputs. */
export async function deploy(aws: LocalAws, options: DeployOptions): Promise<StackOutputs> {
  const folder = join(aws.folder, 'cdk', options.stackName);
  mkdirSync(folder, { recursive: true });
  const outputsFile = join(folder, 'outputs.json');
  const args = ['deploy', options.stackName, '--require-approval', 'never', '--outputs-file', outputsFile];
  args.push(...given('--parameters', options.parameters), ...given('--context', options.context));
  if (options.app === undefined) args.push('--output', join(folder, 'assembly'));
  else args.push('--app', options.app);
  await cdk(aws, REPOSITORY, args, options.progress ?? (() => {}));
  const outputs = JSON.parse(readFileSync(outputsFile, 'utf8')) as Record<string, StackOutputs>;
  return outputs[options.stackName] ?? {};
}

function given(flag: string, values: Readonly<Record<string, string>> = {}): readonly string[] {
  return Object.entries(values).flatMap(([name, value]) => [flag, `${name}=${value}`]);
}

/** Destroys a stack that was deployed from `appFolder`. */
export async function destroy(aws: LocalAws, stackName: string, progress: Progress = () => {}): Promise<void> {
  await cdk(aws, REPOSITORY, ['destroy', stackName, '--force', '--app', appFolder(aws)], progress);
}

/** The cdk command and the CDK library keep caches in the home folder, some of them under the account they spoke to. */
function cdkEnvironment(aws: LocalAws): NodeJS.ProcessEnv {
  const env = environmentOf(aws);
  const common = { ...env, PATH: NODE_BIN + delimiter + (env.PATH ?? ''), TMPDIR: join(aws.folder, 'tmp') };
  // Who somebody is on AWS may be written in the home folder.
  if (aws.reach === 'account') return { ...common, ...QUIET };
  return {
    ...common,
    ...QUIET,
    HOME: join(aws.folder, 'home'),
    CDK_HOME: join(aws.folder, 'home', '.cdk'),
    AWS_CONFIG_FILE: join(aws.folder, 'home', 'config'),
    AWS_SHARED_CREDENTIALS_FILE: join(aws.folder, 'home', 'credentials'),
  };
}

function cdk(aws: LocalAws, cwd: string, args: readonly string[], progress: Progress): Promise<void> {
  const child = spawnOwned(join(NODE_BIN, 'cdk'), [...args, '--no-notices', '--no-color', '--ci'], {
    cwd,
    env: cdkEnvironment(aws),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  for (const input of [child.stdout, child.stderr]) {
    if (input === null) continue;
    createInterface({ input }).on('line', (line) => {
      lines.push(line);
      progress(line);
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      const lastWords = lines.slice(-LAST_WORDS_LINES).join('\n');
      if (code === 0) resolve();
      else reject(new CdkFailed(`cdk ${args[0]} ended with ${code}:\n${lastWords}`));
    });
  });
}

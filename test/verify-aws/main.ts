import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline/promises';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { Command, InvalidArgumentError } from 'commander';
import type { ClientConfig } from '../../lib/local/access.ts';
import { readBehaviours } from './behaviours.ts';
import { type CleanedUp, cleanUp, PREFIX } from './clean-up.ts';
import { costOf, renderCost } from './cost.ts';
import { BY_HAND, filesOf, NOT_ON_AWS, ON_AWS, type Suite } from './plan.ts';
import { runTests } from './run-tests.ts';
import { renderVerdicts, type TestReport } from './verified.ts';

const SUITES: readonly Suite[] = ['contract', 'integration'];
const REFUSED = 2;

interface Options {
  readonly yes?: true;
  readonly dryRun?: true;
  readonly region?: string;
  readonly suites: readonly Suite[];
  readonly only?: string;
  readonly cleanUp?: string;
}

interface Target {
  readonly account: string;
  readonly caller: string;
  readonly region: string;
  readonly config: ClientConfig;
}

/** Ends the command with a sentence and exit code 2, before anything was made. */
class Refused extends Error {}

const say = (text: string) => process.stdout.write(`${text}\n`);

function readSuites(text: string): readonly Suite[] {
  const suites = text.split(',');
  const isSuite = (name: string): name is Suite => (SUITES as readonly string[]).includes(name);
  if (suites.every(isSuite)) return suites;
  throw new InvalidArgumentError(`There is ${SUITES.join(' and ')}.`);
}

function readArguments(): Options {
  const command = new Command('verify:aws')
    .description(
      'Verifies docs/aws-behaviour.md on live AWS: runs the contract and integration tests against your account, on ' +
        'tables, queues and stacks of their own, and deletes all of it. Says what it makes and costs, and asks, first.',
    )
    .option('--dry-run', 'say all that it would do, and do nothing')
    .option('--yes', 'do not ask; needed where there is no terminal')
    .option('--region <region>', 'the Region; AWS_REGION unless given')
    .option('--suites <names>', 'contract, integration, or both', readSuites, SUITES)
    .option('--only <text>', 'only test files whose path holds this text')
    .option('--clean-up <prefix>', 'delete what an interrupted run left, by the prefix that it said; runs no test')
    .addHelpText('after', '\nExit codes: 0 all as documented, 1 something is not, 2 refused before anything was made.');
  return command.parse().opts<Options>();
}

async function readTarget(options: Options): Promise<Target> {
  const region = options.region ?? process.env.AWS_REGION ?? process.env.AWS_DEFAULT_REGION;
  if (region === undefined || region === '') throw new Refused('Say the Region by --region or AWS_REGION.');
  const config = { region };
  const { Account = '', Arn = '' } = await new STSClient(config)
    .send(new GetCallerIdentityCommand({}))
    .catch((error: Error) => {
      throw new Refused(`STS does not say who you are (${error.name}): set AWS_PROFILE or the like.`);
    });
  return { account: Account, caller: Arn, region, config };
}

function describePlan({ account, caller, region }: Target, options: Options, prefix: string): string {
  const files = filesOf(options.suites, options.only);
  const endpoint = process.env.AWS_ENDPOINT_URL;
  const list = (texts: readonly string[]) => texts.map((text) => `  - ${text}`).join('\n');
  const entries = (table: Readonly<Record<string, string>>) =>
    list(Object.entries(table).map(([name, text]) => `test/integration/${name}: ${text}`));
  return [
    `Account ${account}, Region ${region}, as ${caller}${endpoint === undefined ? '' : `, at ${endpoint}`}`,
    `Everything it makes has a name that begins with ${prefix}-:`,
    list([
      'contract: about 300 things: on-demand tables of a few records, queues, secrets, log groups, small stacks of roles and functions',
      'integration: a stack of the pipeline for each file, by cdk deploy and cdk destroy, and a record table of up to 25,000 records',
    ]),
    `It runs ${files.length} test files, one after the other, in about two hours:`,
    list(files),
    'Integration tests among them:',
    entries(ON_AWS),
    'Integration tests that cannot run on AWS:',
    entries(NOT_ON_AWS),
    'Not seen by any test, to be looked at by hand:',
    list(BY_HAND),
    'Afterwards it deletes every stack, table, queue, secret and log group of that prefix, also where tests fail.',
    renderCost(costOf(options.suites)),
  ].join('\n');
}

async function confirm({ account }: Target, options: Options): Promise<void> {
  if (options.yes) return;
  if (!process.stdin.isTTY) throw new Refused('There is no terminal to ask at: say --yes, or --dry-run.');
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question('Type the account number to go on: ');
  terminal.close();
  if (answer.trim() !== account) throw new Refused('Nothing was made.');
}

/** `cdk bootstrap` makes things that stay; that is not for a test to do. */
async function assertBootstrapped({ account, region, config }: Target, { suites }: Options): Promise<void> {
  if (!suites.includes('integration')) return;
  await new CloudFormationClient(config)
    .send(new DescribeStacksCommand({ StackName: 'CDKToolkit' }))
    .catch((error: Error) => {
      throw new Refused(
        `There is no stack CDKToolkit (${error.name}): run \`npx cdk bootstrap aws://${account}/${region}\` first, or say --suites contract.`,
      );
    });
}

function renderCleanUp({ deleted, left }: CleanedUp, prefix: string): string {
  if (left.length === 0)
    return `Deleted ${deleted.length} things that were left; nothing of ${prefix} is there any more.`;
  const again = `npm run verify:aws -- --clean-up ${prefix}`;
  return `Deleted ${deleted.length}; these could not be deleted (try \`${again}\`):\n  ${left.join('\n  ')}`;
}

/** Interrupted, it leaves what it made, and says how to delete that. */
function exitOnSignals(prefix: string): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      say(`\nInterrupted. What was made is still there: npm run verify:aws -- --clean-up ${prefix}`);
      process.exit(1);
    });
  }
}

async function verify(target: Target, options: Options, prefix: string): Promise<number> {
  exitOnSignals(prefix);
  let report: TestReport | undefined;
  let cleaned: CleanedUp | undefined;
  try {
    report = await runTests(filesOf(options.suites, options.only), target.region, prefix);
  } finally {
    say(`Deleting what is left of ${prefix}.`);
    cleaned = await cleanUp(target.config, prefix);
    say(renderCleanUp(cleaned, prefix));
  }
  say(`\n${renderVerdicts(readBehaviours(), report)}`);
  const broken = report.testResults.filter(({ status }) => status !== 'passed');
  for (const { name, message = '' } of broken) say(`\nFailed: ${name}${message === '' ? '' : `: ${message}`}`);
  return broken.length === 0 && cleaned.left.length === 0 ? 0 : 1;
}

async function main(): Promise<number> {
  const options = readArguments();
  const prefix = options.cleanUp ?? `ledgersweep-verify-${randomBytes(4).toString('hex')}`;
  if (!PREFIX.test(prefix)) throw new Refused(`${prefix} is not the prefix of a run: ledgersweep-verify-<8 digits>.`);
  const target = await readTarget(options);
  if (options.cleanUp !== undefined) {
    say(`Account ${target.account}, Region ${target.region}: everything that begins with ${prefix}- is deleted.`);
    if (options.dryRun) return 0;
    await confirm(target, options);
    const cleaned = await cleanUp(target.config, prefix);
    say(renderCleanUp(cleaned, prefix));
    return cleaned.left.length === 0 ? 0 : 1;
  }
  if (filesOf(options.suites, options.only).length === 0) throw new Refused(`No test file holds ${options.only}.`);
  say(describePlan(target, options, prefix));
  if (options.dryRun) return 0;
  await assertBootstrapped(target, options);
  await confirm(target, options);
  return verify(target, options, prefix);
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof Refused)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = REFUSED;
}

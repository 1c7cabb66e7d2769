import { globSync } from 'node:fs';
import { relative } from 'node:path';
import { REPOSITORY } from '../../lib/local/paths.ts';

export type Suite = 'contract' | 'integration';

/** Integration tests that run on AWS as they run on the local AWS, each on a throw-away stack of its own. */
export const ON_AWS: Readonly<Record<string, string>> = {
  'people.test.ts': 'what the reader and operator policies let a person do',
  'permissions.test.ts': 'what the role of each function may do to records',
  'refused.test.ts': 'what a deployed dispatcher refuses',
  'failures.test.ts': 'a record that fails for good: quarantine, redrive, dead letters, logs',
  'stop.test.ts': 'a pause and a cancel in the middle of 20,000 records',
};

/** Those that cannot, and why. */
export const NOT_ON_AWS: Readonly<Record<string, string>> = {
  'killed.test.ts': 'kills functions through a file of this machine that they preload; Lambda cannot see it',
  'local-aws.test.ts': 'is about the local AWS itself',
  'local-run.test.ts': 'is about `npm run local`, which starts a local AWS',
  'tenant-retention.test.ts': 'is an example of `npm run local`, which moves the clock of deployed functions',
};

/** What no test can see within an hour; `docs/aws-behaviour.md` names these behaviours too. */
export const BY_HAND: readonly string[] = [
  'the schedule’s own firing with its context attributes, and over a change of the clocks: deploy, and look the next day',
  'moving dead letters by the SQS console (StartMessageMoveTask), and that labels survive it',
  'retention of messages and dead letters, which takes days',
  'time to live, which takes hours to days',
  'CloudTrail’s events, where the account has a trail',
];

/** Files that a run of these suites consists of, from the root of the repository. */
export function filesOf(suites: readonly Suite[], only: string | undefined): readonly string[] {
  const files = suites.flatMap((suite) =>
    suite === 'contract'
      ? globSync('test/contract/*.local-aws.test.ts', { cwd: REPOSITORY })
      : Object.keys(ON_AWS).map((name) => `test/integration/${name}`),
  );
  return files
    .map((file) => relative('.', file))
    .filter((file) => only === undefined || file.includes(only))
    .toSorted();
}

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnOwned } from '../../lib/local/child.ts';
import { NODE_BIN, REPOSITORY } from '../../lib/local/paths.ts';
import { VERIFY, VERIFY_PREFIX } from '../helpers/aws-under-test.ts';
import type { TestReport } from './verified.ts';

// Tables and stacks take seconds to minutes on AWS, a mapping up to a minute.
const TEST_TIMEOUT_MILLIS = 900_000;

/** Runs test files against the account that the environment names; what they say goes to this terminal. */
export async function runTests(files: readonly string[], region: string, prefix: string): Promise<TestReport> {
  const folder = mkdtempSync(join(tmpdir(), 'verify-'));
  const reportFile = join(folder, 'report.json');
  try {
    const args = [join(REPOSITORY, 'node_modules/vitest/vitest.mjs'), 'run', '--no-file-parallelism', ...files];
    args.push('--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`);
    args.push(`--testTimeout=${TEST_TIMEOUT_MILLIS}`, `--hookTimeout=${TEST_TIMEOUT_MILLIS}`);
    const child = spawnOwned(process.execPath, args, {
      cwd: REPOSITORY,
      env: {
        ...process.env,
        PATH: `${NODE_BIN}:${process.env.PATH}`,
        AWS_REGION: region,
        [VERIFY]: 'aws',
        [VERIFY_PREFIX]: prefix,
      },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', () => resolve());
    });
    return JSON.parse(readFileSync(reportFile, 'utf8')) as TestReport;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

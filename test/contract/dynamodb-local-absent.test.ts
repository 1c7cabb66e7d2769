import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NODE_BIN, REPOSITORY } from '../../lib/local/paths.ts';

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTestSuites: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

const FILES = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.dynamodb-local.test.ts'));

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'old-java-'));
  // A runtime that is too old, before any other on the path.
  writeFileSync(join(folder, 'java'), '#!/bin/sh\necho \'openjdk version "11.0.2" 2019-01-15\' >&2\n');
  chmodSync(join(folder, 'java'), 0o755);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Every contract file of DynamoDB Local in a process of its own that finds only the old Java. */
function runWithout(CI: string): { readonly report: Report; readonly printed: string; readonly code: number | null } {
  const reportFile = join(folder, `report-${CI}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`];
  const args = [join(REPOSITORY, 'node_modules/vitest/vitest.mjs'), 'run', '--project', 'contract', ...reporters];
  const env = { ...process.env, CI, PATH: [folder, NODE_BIN, process.env.PATH].join(':') };
  const ran = spawnSync(process.execPath, [...args, '.dynamodb-local.test.ts'], {
    cwd: REPOSITORY,
    env,
    encoding: 'utf8',
  });
  const report = JSON.parse(readFileSync(reportFile, 'utf8')) as Report;
  return { report, printed: ran.stdout + ran.stderr, code: ran.status };
}

describe('where no Java 17 is', () => {
  it('skips every contract test of DynamoDB Local, and says how many of each file', () => {
    const { report, printed, code } = runWithout('');
    expect(code).toBe(0);
    const files = report.testResults.map(({ name, assertionResults }) => {
      const skipped = assertionResults.filter(({ status }) => status !== 'passed').length;
      return [name.split('/').at(-1), skipped] as const;
    });
    expect(files.map(([name]) => name).toSorted()).toEqual(FILES.toSorted());
    for (const [name, skipped] of files) {
      expect(skipped, name).toBeGreaterThan(5);
      expect(printed).toContain(`${skipped} tests of test/contract/${name} are skipped: no DynamoDB Local.`);
    }
    // One of each file: the one that counts.
    expect(report.numPassedTests).toBe(FILES.length);
    expect(printed).toContain('DynamoDB Local needs a Java 17 runtime; found 11.');
  });

  it('fails every one of those files in CI', () => {
    const { report, code } = runWithout('true');
    expect(code).toBe(1);
    expect(report.testResults.map(({ status }) => status)).toEqual(FILES.map(() => 'failed'));
    for (const { message } of report.testResults) {
      expect(message).toContain('DynamoDB Local needs a Java 17 runtime; found 11.');
    }
  });
});

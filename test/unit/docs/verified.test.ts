import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { REPOSITORY } from '../../../lib/local/paths.ts';
import type { Behaviour } from '../../verify-aws/behaviours.ts';
import { costOf } from '../../verify-aws/cost.ts';
import { filesOf, NOT_ON_AWS, ON_AWS } from '../../verify-aws/plan.ts';
import { renderVerdicts, type TestReport, verdictOn } from '../../verify-aws/verified.ts';

const CONTRACT = 'test/contract/queue.contract.ts';

function behaviour(text: string, ...tests: Behaviour['tests']): Behaviour {
  return { text, documented: [], seenOn: [], tests, live: 'unverified' };
}

function report(...ran: readonly (readonly [title: string, status: string])[]): TestReport {
  const assertionResults = ran.map(([title, status]) => ({ title, status, ancestorTitles: [] }));
  return { testResults: [{ name: 'file', status: 'passed', assertionResults }] };
}

describe('what a run on AWS says of a row', () => {
  const row = behaviour('text', { title: 'hides (a message)', file: CONTRACT });

  it('is that it was seen where its tests passed, in as many places as they ran', () => {
    expect(verdictOn(row, report(['hides (a message)', 'passed'], ['another', 'failed']))).toEqual({
      kind: 'seen',
      tests: 1,
    });
  });

  it('is that it failed where one of them failed, by name, though others passed', () => {
    const ran = report(['hides (a message)', 'passed'], ['hides (a message)', 'failed']);
    expect(verdictOn(row, ran)).toEqual({ kind: 'failed', titles: ['hides (a message)'] });
  });

  it('is nothing where none ran, was skipped, or is a test of a model or of answers that we made up', () => {
    expect(verdictOn(row, report(['hides (a message), too', 'passed'], ['hides (a message)', 'skipped']))).toEqual({
      kind: 'not-seen',
    });
    const made = behaviour('text', { title: 'a title', file: 'test/unit/aws/queue.test.ts' });
    expect(verdictOn(made, report(['a title', 'passed']))).toEqual({ kind: 'not-seen' });
  });

  it('takes a title of `each` by what stands around its placeholders', () => {
    const each = behaviour('text', { title: 'the grants %j lack %j.', file: CONTRACT });
    expect(verdictOn(each, report(['the grants ["a"] lack [].', 'passed'], ['the grants lack', 'failed']))).toEqual({
      kind: 'seen',
      tests: 1,
    });
  });

  it('is told in three parts', () => {
    const other = behaviour('other', { title: 'fails', file: CONTRACT });
    const text = renderVerdicts(
      [row, other, behaviour('by hand')],
      report(['hides (a message)', 'passed'], ['fails', 'failed']),
    );
    expect(text).toContain('Verified: 1 of 3\n  - text [1 tests]');
    expect(text).toContain('NOT as documented: 1 of 3\n  - other [failed: fails]');
    expect(text).toContain('Not seen by this run: 1 of 3\n  - by hand');
  });
});

describe('what a run consists of', () => {
  it('is settled for every integration test: it runs on AWS, or there is a reason why it cannot', () => {
    const files = readdirSync(join(REPOSITORY, 'test/integration')).filter((name) => name.endsWith('.test.ts'));
    expect([...Object.keys(ON_AWS), ...Object.keys(NOT_ON_AWS)].toSorted()).toEqual(files.toSorted());
    for (const name of Object.keys(ON_AWS)) {
      expect(readFileSync(join(REPOSITORY, 'test/integration', name), 'utf8')).toContain('bringUpUnderTest(');
    }
  });

  it('is the contract of the local AWS and those, or less where less is asked for', () => {
    const all = filesOf(['contract', 'integration'], undefined);
    expect(all.filter((file) => file.startsWith('test/integration/'))).toHaveLength(Object.keys(ON_AWS).length);
    expect(all).toContain('test/contract/queue.local-aws.test.ts');
    expect(filesOf(['contract'], 'signer')).toEqual(['test/contract/signer.local-aws.test.ts']);
  });
});

describe('what a run costs', () => {
  const sum = (lines: ReturnType<typeof costOf>) => lines.reduce((total, { dollars }) => total + dollars, 0);

  it('is the sum of its suites, and about a dollar at most', () => {
    const [contract, integration] = [sum(costOf(['contract'])), sum(costOf(['integration']))];
    expect(sum(costOf(['contract', 'integration']))).toBeCloseTo(contract + integration, 6);
    expect(contract + integration).toBeLessThan(1);
    expect(contract).toBeGreaterThan(0.01);
  });
});

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { REPOSITORY } from '../../../lib/local/paths.ts';
import { filesRunOn, type Implementation } from '../../contract/suites.ts';
import { readBehaviours } from '../../verify-aws/behaviours.ts';

const behaviours = readBehaviours();

const SUITES: Readonly<Record<string, Implementation>> = {
  model: 'model',
  MiniStack: 'local-aws',
  'DynamoDB Local': 'dynamodb-local',
};

/** Whether a test of this file was seen on what the page calls so. */
function isRunOn(file: string, where: string): boolean {
  const contract = /^test\/contract\/(.+)$/.exec(file)?.[1];
  const implementation = SUITES[where];
  if (contract !== undefined) return implementation !== undefined && filesRunOn(implementation).has(contract);
  if (where === 'model') return /^test\/unit\/(model|core)\//.test(file);
  if (where === 'MiniStack') return file.startsWith('test/integration/');
  if (where === 'template') return file.startsWith('test/infra/');
  return where === 'made-up answers' && /^test\/unit\/(aws|targets)\//.test(file);
}

describe('the page of AWS’s behaviour', () => {
  it('has a row for each of dozens of behaviours, none twice', () => {
    expect(behaviours.length).toBeGreaterThan(70);
    expect(new Set(behaviours.map(({ text }) => text)).size).toBe(behaviours.length);
  });

  it.each(behaviours)('names tests that exist: $text', ({ tests }) => {
    for (const { title, file } of tests) {
      const path = join(REPOSITORY, file);
      expect(existsSync(path), file).toBe(true);
      const text = readFileSync(path, 'utf8').replaceAll("\\'", "'");
      expect(text.includes(`'${title}'`) || text.includes(`"${title}"`), `${title} in ${file}`).toBe(true);
    }
  });

  it.each(behaviours)('says where AWS documents it: $text', ({ documented }) => {
    expect(documented.length).toBeGreaterThan(0);
    for (const url of documented) expect(url).toMatch(/^https:\/\/docs\.aws\.amazon\.com\/[\w/.-]+$/);
  });

  it.each(behaviours)('was seen where it says, by a test it names: $text', ({ seenOn, tests }) => {
    for (const where of seenOn) {
      expect(
        tests.some(({ file }) => isRunOn(file, where)),
        where,
      ).toBe(true);
    }
  });

  it.each(behaviours)('is verified on live AWS at a date, or not: $text', ({ live }) => {
    expect(live).toMatch(/^(unverified|verified \d{4}-\d{2}-\d{2})$/);
  });
});

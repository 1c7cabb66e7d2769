import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY } from '../../lib/local/paths.ts';

/** A test as `docs/aws-behaviour.md` names it: its title as it stands in the file, with the placeholders of `each`. */
export interface NamedTest {
  readonly title: string;
  /** From the root of the repository. */
  readonly file: string;
}

/** One row of the page. */
export interface Behaviour {
  readonly text: string;
  readonly documented: readonly string[];
  readonly seenOn: readonly string[];
  readonly tests: readonly NamedTest[];
  /** `unverified`, or `verified` with a date. */
  readonly live: string;
}

export const PAGE = join(REPOSITORY, 'docs/aws-behaviour.md');

const COLUMNS = 5;
const TEST = /“(.+?)” \(`([^`]+)`\)/g;
const LINK = /\[[^\]]+\]\((https:\/\/[^)]+)\)/g;

/** Every row of the tables that have all five columns, in order. */
export function readBehaviours(page = readFileSync(PAGE, 'utf8')): readonly Behaviour[] {
  return page.split('\n').flatMap((line) => {
    const cells = line.split(' | ');
    const [first = '', documented = '', seen = '', tests = '', live = ''] = cells;
    if (!first.startsWith('| ') || cells.length !== COLUMNS || first === '| behaviour') return [];
    return [
      {
        text: first.slice(2),
        documented: [...documented.matchAll(LINK)].map(([, url = '']) => url),
        seenOn: seen === '—' ? [] : seen.split(', '),
        tests: [...tests.matchAll(TEST)].map(([, title = '', file = '']) => ({ title, file })),
        live: live.replace(/ \|$/, ''),
      },
    ];
  });
}

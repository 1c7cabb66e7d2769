import type { Behaviour, NamedTest } from './behaviours.ts';

/** Of Vitest's JSON report, what is needed. */
export interface TestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly title: string;
      readonly status: string;
      readonly ancestorTitles: readonly string[];
    }[];
  }[];
}

/** `seen`: every test of it that ran passed. `failed`: one did not. `not-seen`: none ran on AWS. */
export type Verdict =
  | { readonly kind: 'seen'; readonly tests: number }
  | { readonly kind: 'failed'; readonly titles: readonly string[] }
  | { readonly kind: 'not-seen' };

/** What a run on AWS says of one row of the page. */
export function verdictOn({ tests }: Behaviour, report: TestReport): Verdict {
  const ran = report.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'passed' || status === 'failed')
    .filter(({ title }) => tests.some((test) => isNamed(test, title)));
  const failed = ran.filter(({ status }) => status === 'failed');
  if (failed.length > 0) return { kind: 'failed', titles: [...new Set(failed.map(({ title }) => title))] };
  return ran.length === 0 ? { kind: 'not-seen' } : { kind: 'seen', tests: ran.length };
}

/** Placeholders of `each` stand for anything. Tests of what AWS would answer, or of a model, are no sight of AWS. */
function isNamed({ title, file }: NamedTest, ran: string): boolean {
  if (!/^test\/(contract|integration)\//.test(file)) return false;
  const pattern = title
    .split(/%[sdifjo]/)
    .map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*');
  return new RegExp(`^${pattern}$`, 's').test(ran);
}

/** The list that a run ends with. */
export function renderVerdicts(behaviours: readonly Behaviour[], report: TestReport): string {
  const verdicts = behaviours.map((behaviour) => ({ behaviour, verdict: verdictOn(behaviour, report) }));
  const part = (kind: Verdict['kind'], title: string) => {
    const rows = verdicts.filter(({ verdict }) => verdict.kind === kind);
    const lines = rows.map(({ behaviour, verdict }) => `  - ${behaviour.text}${detailOf(verdict)}`);
    return [`${title}: ${rows.length} of ${behaviours.length}`, ...lines].join('\n');
  };
  return [part('seen', 'Verified'), part('failed', 'NOT as documented'), part('not-seen', 'Not seen by this run')].join(
    '\n\n',
  );
}

function detailOf(verdict: Verdict): string {
  if (verdict.kind === 'seen') return ` [${verdict.tests} tests]`;
  return verdict.kind === 'failed' ? ` [failed: ${verdict.titles.join('; ')}]` : '';
}

import type { Guard } from './guard.ts';
import { GUARDS } from './guards.ts';

const INTRODUCTION = `# Weakened guards

Made from the data in \`test/guards/list\`; a test compares the two. Each row is a guard of the source. \`npm run guards\`
takes one out at a time, as the source is loaded, and runs the test beside it, which must fail for it. I1 to I10 are the
invariants of the list below; P numbers are those of the tests, each a fault that others have had.

1. The schedule owns time, not work: one run for a scheduled time, one cutoff, exclusive.
2. The plan is frozen, and the caps are checked, before anything is published.
3. The record's own condition is the guard.
4. Effect, then ledger, then acknowledgement.
5. Identity outlives SQS: attempts, age and generation live in the ledger.
6. Nothing is lost.
7. A person's act has a name and a reason, audited before it takes effect. Nothing redrives itself.
8. No record content travels.
9. Safe by default: a report publishes nothing, and enforcement is granted explicitly.
10. No removal passes by the guard.

| guard | where | without it | protects | caught by |
|---|---|---|---|---|
`;

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

function row({ name, file, weakened, protects, catcher }: Guard): string {
  const by = `${cell(catcher.title)} (\`${catcher.file}\`)`;
  return `| ${[`\`${name}\``, `\`${file}\``, cell(weakened), protects, by].join(' | ')} |`;
}

/** The page of all guards, as docs/guards.md holds it. */
export function guardsPage(): string {
  return `${INTRODUCTION}${GUARDS.map(row).join('\n')}\n`;
}

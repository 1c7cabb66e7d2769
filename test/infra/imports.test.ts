import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = execFileSync('git', ['rev-parse', '--show-toplevel'], { encoding: 'utf8' }).trim();
let tree = '';

function lint(file: string, specifier: string): string {
  const path = join(tree, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `import { x } from '${specifier}';\n\nx();\n`);
  const result = spawnSync(join(root, 'node_modules/.bin/biome'), ['lint', '--vcs-enabled=false', path], {
    cwd: tree,
    encoding: 'utf8',
  });
  return result.stdout + result.stderr;
}

describe('imports run one way', () => {
  beforeAll(() => {
    mkdirSync(join(root, '.local'), { recursive: true });
    tree = mkdtempSync(join(root, '.local', 'imports-'));
    cpSync(join(root, 'biome.json'), join(tree, 'biome.json'));
  });
  afterAll(() => rmSync(tree, { recursive: true, force: true }));

  it.each([
    ['lib/core/a.ts', '../aws/meter.ts'],
    ['lib/core/plan/a.ts', '@aws-sdk/client-sqs'],
    ['lib/core/plan/a.ts', '../../cli/main.ts'],
    ['lib/aws/a.ts', '../cdk/index.ts'],
    ['lib/aws/a.ts', 'aws-cdk-lib'],
    ['lib/cdk/a.ts', '../core/plan/dispatch.ts'],
    ['lib/cdk/a.ts', '../aws/clients.ts'],
    ['lib/cdk/a.ts', '../../lambdas/consumer/handler.ts'],
    ['lib/cli/a.ts', '../cdk/index.ts'],
    ['lib/cli/a.ts', '../local/server.ts'],
    ['lib/local/a.ts', '../cdk/index.ts'],
    ['lib/local/a.ts', '../cli/main.ts'],
    ['lambdas/consumer/a.ts', '../../lib/cdk/index.ts'],
    ['lambdas/consumer/a.ts', '../../lib/cli/main.ts'],
  ])('%s may not import %s', (file, specifier) => {
    expect(lint(file, specifier)).toContain('noRestrictedImports');
  });

  it.each([
    ['lib/core/plan/b.ts', '../ports/index.ts'],
    ['lib/core/plan/b.ts', 'node:crypto'],
    ['lib/aws/b.ts', '../core/ports/index.ts'],
    ['lib/cdk/b.ts', '../core/policy/settings.ts'],
    ['lib/cdk/b.ts', 'aws-cdk-lib/aws-sqs'],
    ['lambdas/consumer/b.ts', '../../lib/aws/clients.ts'],
  ])('%s may import %s', (file, specifier) => {
    expect(lint(file, specifier)).not.toContain('noRestrictedImports');
  });

  it('the checker of the simulation takes nothing but types from outside, so that it shares no code with the core', () => {
    const folder = join(root, 'test/simulation/checker');
    const outside = readdirSync(folder).flatMap((name) =>
      importsOf(readFileSync(join(folder, name), 'utf8')).filter(({ from }) => !from.startsWith('./')),
    );
    expect(outside.length).toBeGreaterThan(5);
    const taken = outside.filter(({ kind, from }) => kind === 'code' && from !== 'node:crypto');
    expect(taken).toEqual([]);
  });

  it.each([
    ["import { digestOf } from '../../../lib/core/identity/encode.ts';", 'code'],
    ["import { type A, digestOf } from '../../../lib/core/identity/encode.ts';", 'code'],
    ["export * from '../../model/index.ts';", 'code'],
    ["const { digestOf } = await import('../../../lib/core/identity/encode.ts');", 'code'],
    ["import '../../../lib/core/identity/encode.ts';", 'code'],
    ["import type { RunItem } from '../../../lib/core/ledger/items.ts';", 'types'],
  ])('%s takes %s', (line, kind) => {
    expect(importsOf(line)).toMatchObject([{ kind }]);
  });
});

/** Every way to name another module; what is not `import type` or `export type` as a whole takes code. */
function importsOf(text: string): readonly { readonly kind: 'code' | 'types'; readonly from: string }[] {
  const named =
    /(?:^|\n)\s*(import|export)\s+(type\s)?(?:[^'"`;]*?\sfrom\s+)?['"]([^'"]+)['"]|import\(\s*['"`]([^'"`]+)/g;
  return [...text.matchAll(named)].map(([, , type, from, dynamic]) => ({
    kind: type === undefined ? 'code' : 'types',
    from: from ?? dynamic ?? '',
  }));
}

import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Bundle, bundled, FUNCTIONS } from './bundled.ts';

/** What a cold start has to read and parse; the SDK's whole clients take half as much again. */
const BYTES_AT_MOST = 400_000;

let bundles: ReadonlyMap<string, Bundle> = new Map();

beforeAll(() => {
  bundles = bundled();
});

function deployed(name: string): Bundle {
  const bundle = bundles.get(name);
  if (bundle === undefined) throw new Error(`No bundle of the ${name}.`);
  return bundle;
}

describe.each(FUNCTIONS)('bundle of the %s', (name) => {
  it('P69: loads in plain Node where there is nothing else to read', () => {
    const { folder, variables } = deployed(name);
    const load = `const { handler } = await import(${JSON.stringify(join(folder, 'index.mjs'))}); console.log(typeof handler);`;
    // Node's permission model stands for the empty directory: no package of the checkout can be reached from there.
    const flags = ['--permission', `--allow-fs-read=${folder}/`, '--input-type=module', '--eval', load];
    const loaded = spawnSync(process.execPath, flags, {
      cwd: folder,
      encoding: 'utf8',
      env: { AWS_REGION: 'eu-central-1', AWS_LAMBDA_FUNCTION_NAME: name, ...variables },
    });
    expect(loaded.stderr).toBe('');
    expect(loaded.stdout).toBe('function\n');
  });

  it('P69: is one file that imports nothing but Node itself, so the SDK in it is the locked one', () => {
    const { folder } = deployed(name);
    expect(readdirSync(folder)).toEqual(['index.mjs']);
    const { metafile } = buildSync({
      entryPoints: [join(folder, 'index.mjs')],
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      outdir: folder,
      write: false,
      metafile: true,
    });
    const imports = Object.values(metafile.outputs).flatMap((output) => output.imports.map(({ path }) => path));
    expect(imports.filter((path) => !isBuiltin(path))).toEqual([]);
  });

  it('is small', () => {
    expect(statSync(join(deployed(name).folder, 'index.mjs')).size).toBeLessThanOrEqual(BYTES_AT_MOST);
  });
});

import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Bundle, bundled } from '../../infra/bundled.ts';
import { scratch } from '../../infra/synthesis.ts';
import { type Figure, median, type Part, type Scale } from '../figures.ts';

const BYTES_AT_MOST = 400_000;
const ROUNDS: Readonly<Record<Scale, number>> = { full: 15, quick: 5, tiny: 1 };

function millisOfImport(file: string, variables: Bundle['variables']): number {
  const env = { AWS_REGION: 'us-east-1', AWS_LAMBDA_FUNCTION_NAME: 'bench', ...variables };
  const begun = performance.now();
  const { status, stderr } = spawnSync(process.execPath, ['--import', file, '--eval', '0'], { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${file} does not load: ${stderr}`);
  return performance.now() - begun;
}

/** Median over the rounds of a start of Node with the bundle over one with an empty module, one right after the other. */
function importRatio({ folder, variables }: Bundle, empty: string, rounds: number): number {
  const ratios = Array.from({ length: rounds }, () => {
    const nothing = millisOfImport(empty, variables);
    return millisOfImport(join(folder, 'index.mjs'), variables) / nothing;
  });
  return median(ratios);
}

/** What Lambda loads at a cold start. */
export const bundles: Part = {
  name: 'bundles',
  about: 'bytes of each handler as it is deployed, and the time its import takes',
  async measure(scale) {
    const made = bundled();
    const empty = join(scratch, 'empty.mjs');
    writeFileSync(empty, '');
    const figures: Figure[] = [];
    const rows: (string | number)[][] = [];
    for (const [name, bundle] of made) {
      const file = join(bundle.folder, 'index.mjs');
      const bytes = statSync(file).size;
      rows.push([name, bytes, gzipSync(readFileSync(file)).length, importRatio(bundle, empty, ROUNDS[scale])]);
      figures.push({ what: `bundle of the ${name}`, value: bytes, unit: 'bytes', bound: { atMost: BYTES_AT_MOST } });
    }
    rmSync(scratch, { recursive: true, force: true });
    const columns = ['handler', 'bytes', 'bytes compressed', 'start of Node with it over one with an empty module'];
    return { figures, tables: [{ title: 'Handlers as they are deployed', columns, rows }] };
  },
};

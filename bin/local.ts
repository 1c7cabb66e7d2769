#!/usr/bin/env node
import { renderRunDetail } from '../lib/cli/render/run.ts';
import { main } from '../lib/local/main.ts';

for (const [signal, number] of [
  ['SIGHUP', 1],
  ['SIGINT', 2],
  ['SIGTERM', 15],
] as const) {
  // An exit ends what this process started; the signal's own way would not.
  process.once(signal, () => process.exit(128 + number));
}

process.exitCode = await main(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  now: Date.now,
  render: renderRunDetail,
});

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { LocalAws } from './server.ts';
import { addVariables } from './variables.ts';

const PRELOAD = pathToFileURL(join(import.meta.dirname, 'clock-ahead.mjs')).href;

/**
 * Puts the clocks of deployed functions ahead, so that they act on a later day, without anything in their code that
 * knows of it. The local AWS keeps the machine's time and refuses a signature of another day; the SDK then takes over
 * the time of the answer for its signatures alone and tries again, as it does on any host whose clock is wrong. A
 * deployment that sets a function's variables sets its clock back.
 */
export async function putClocksAhead(aws: LocalAws, functionNames: readonly string[], millis: number): Promise<void> {
  const added = { NODE_OPTIONS: `--import ${PRELOAD}`, LOCAL_CLOCK_AHEAD_MILLIS: String(millis) };
  await Promise.all(functionNames.map((name) => addVariables(aws, name, added)));
}

// Loaded into a function's Node process by NODE_OPTIONS=--import (see faults.ts): kills it once, at a chosen call.
import { subscribe } from 'node:diagnostics_channel';
import { closeSync, existsSync, openSync } from 'node:fs';

const { target, when, nth, marker } = JSON.parse(process.env.LOCAL_CRASH ?? '{}');

// "before": the request exists and nothing of it was sent. "after": the effect happened, the answer is never read.
const channel = when === 'before' ? 'http.client.request.created' : 'http.client.response.finish';

/** Numbers the calls across all processes of the function: a name can be taken once. */
function take(name) {
  try {
    closeSync(openSync(name, 'wx'));
    return true;
  } catch {
    return false;
  }
}

subscribe(channel, ({ request }) => {
  if (existsSync(marker) || request.getHeader('x-amz-target') !== target) return;
  let n = 1;
  while (n < nth && !take(`${marker}.${n}`)) n += 1;
  if (n === nth && take(marker)) process.kill(process.pid, 'SIGKILL');
});

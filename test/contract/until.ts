import { waitFor } from '../../lib/local/wait.ts';
import { isLiveAws } from '../helpers/aws-under-test.ts';
import type { World } from '../model/index.ts';

// AWS takes its time with logs and event source mappings.
const DEADLINE_MILLIS = isLiveAws() ? 180_000 : 20_000;
const MODEL_TRIES = 200;

/** Asks until the answer is not undefined, while time passes; throws where it never is, naming what was waited for. */
export type Until = <T>(what: string, probe: () => Promise<T | undefined>) => Promise<T>;

export const untilInTime: Until = (what, probe) => waitFor(what, DEADLINE_MILLIS, probe);

/** In a model it is the asking that makes time pass, a tenth of a second each. */
export function untilOn(world: Pick<World, 'advance'>): Until {
  return async (what, probe) => {
    for (let tries = 0; tries < MODEL_TRIES; tries += 1) {
      const answer = await probe();
      if (answer !== undefined) return answer;
      world.advance(100);
    }
    throw new Error(`${what} did not come about.`);
  };
}

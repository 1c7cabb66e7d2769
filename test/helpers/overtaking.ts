import type { Deployment } from './deployment.ts';
import type { Ended } from './process.ts';
import { only, Turns } from './turns.ts';

/** Two invocations of which the second overtakes the first. Each gets the name under which it must run. */
export interface Overtaking {
  readonly first: (name: string) => Promise<Ended<unknown>>;
  /** What happens while the first stands still: time passes, people act. */
  readonly meanwhile: () => Promise<void> | void;
  readonly second: (name: string) => Promise<Ended<unknown>>;
}

/** Where each stands still: before its call of this number. */
export interface Stands {
  readonly first: number;
  readonly second: number;
}

/**
 * The first stands still before one of its calls; the second begins, stands still before one of its own; the first ends;
 * the second ends. Says who really stood still: an invocation may have fewer calls.
 */
export async function overtake(
  deployment: Deployment,
  { first, meanwhile, second }: Overtaking,
  stands: Stands,
): Promise<{ readonly first: boolean; readonly second: boolean }> {
  const turns = new Turns();
  const { crew } = deployment;
  const alone = crew.interference;
  crew.interference = { ...alone, admit: turns.admit };
  const isWaiting = async (name: string) => (await turns.pause()).some((call) => call.process === name);
  const running = [first('first')];
  await turns.bringTo('first', stands.first);
  const stood = { first: await isWaiting('first'), second: false };
  await meanwhile();
  running.push(second('second'));
  await turns.bringTo('second', stands.second);
  stood.second = await isWaiting('second');
  for (const [index, name] of ['first', 'second'].entries()) {
    await turns.drive(running.slice(index, index + 1), only(name));
  }
  crew.interference = alone;
  return stood;
}

/** Plays every second pair of places at which the two can stand still, as on a chessboard; returns how many there were. */
export async function everyOvertaking(
  play: (stands: Stands) => Promise<{ readonly first: boolean; readonly second: boolean }>,
): Promise<number> {
  let plays = 0;
  for (let first = 0; ; first += 1) {
    let stood = { first: true, second: true };
    for (let second = first % 2; stood.second; second += 2) {
      plays += 1;
      try {
        stood = await play({ first, second });
      } catch (error) {
        throw new Error(`first before its call ${first}, second before its call ${second}`, { cause: error });
      }
    }
    if (!stood.first) return plays;
  }
}

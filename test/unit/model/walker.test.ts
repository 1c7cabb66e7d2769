import { describe, expect, it } from 'vitest';
import { Crew, type Interference } from '../../helpers/process.ts';
import { inTurn, Turns } from '../../helpers/turns.ts';
import { type Scenario, WalkFailed, walk } from '../../helpers/walker.ts';

/** A store with two calls; a process that ought to do both. */
class Stage {
  readonly done: string[] = [];
  readonly crew: Crew;

  constructor(interference: Interference) {
    this.crew = new Crew(interference);
  }

  run() {
    const process = this.crew.process('worker');
    const store = process.wrap('store', {
      write: async (what: string) => {
        this.done.push(what);
        return what;
      },
    });
    return process.run(async () => {
      try {
        await store.write('first');
        await store.write('second');
      } catch {
        await store.write('excuse');
      } finally {
        this.done.push('tidied up');
      }
    });
  }
}

function storyOf(check: (stage: Stage) => void): Scenario<Stage> {
  return {
    make: (interference) => new Stage(interference),
    play: async (stage) => void (await stage.run()),
    check,
  };
}

describe('call walker', () => {
  it('plays once undisturbed and four times per call', async () => {
    const ends: string[] = [];
    const { calls, plays } = await walk(storyOf(({ done }) => ends.push(done.join())));
    expect(calls.map((call) => call.name)).toEqual(['store.write', 'store.write']);
    expect(plays).toBe(9);
    // A crashed process runs no catch and no finally; one that only lost an answer does.
    expect(ends).toEqual([
      'first,second,tidied up',
      '',
      'first',
      'excuse,tidied up',
      'first,excuse,tidied up',
      'first',
      'first,second',
      'first,excuse,tidied up',
      'first,second,excuse,tidied up',
    ]);
  });

  it('names the call and the trouble of every play that ends wrongly', async () => {
    const story = storyOf(({ done }) => {
      if (done.join() === 'first') throw new Error('half done');
    });
    const failed: unknown = await walk(story).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(WalkFailed);
    expect(failed instanceof WalkFailed && failed.stumbles.map((stumble) => stumble.at)).toEqual([
      'crash after call 0 (worker store.write)',
      'crash before call 1 (worker store.write)',
    ]);
  });

  it('fails where a play ends otherwise than the undisturbed one', async () => {
    const story = { ...storyOf(() => {}), end: ({ done }: Stage) => done.includes('second') };
    await expect(walk(story)).rejects.toThrow(/another end: false\s+instead of true/);
  });
});

describe('processes side by side', () => {
  it('go on one call at a time, and a dead one never does', async () => {
    const turns = new Turns();
    const crew = new Crew({
      admit: turns.admit,
      fate: ({ ordinal, process }) => (process === 'b' && ordinal === 1 ? 'crash' : 'go'),
    });
    const order: string[] = [];
    const start = (name: string) => {
      const process = crew.process(name);
      const port = process.wrap('port', { step: async (number: number) => order.push(`${name}${number}`) });
      return process.run(async () => {
        for (let number = 0; number < 3; number += 1) await port.step(number);
      });
    };
    const [a, b] = [start('a'), start('b')];
    await turns.drive([a, b], inTurn);
    expect(order).toEqual(['a0', 'b0', 'a1', 'a2']);
    expect(await a).toMatchObject({ kind: 'done' });
    expect(await b).toEqual({ kind: 'crashed', call: 'before port.step' });
  });
});

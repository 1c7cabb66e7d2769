import { beforeAll, describe, expect, it } from 'vitest';
import { type Evidence, faultsOf } from './checker/index.ts';
import { CORRUPTIONS } from './corruptions.ts';
import { playSeed } from './seed.ts';

/** Enough for every corruption to find a world that has what it makes untrue. */
const WORLDS = 60;

describe('the checker', { timeout: 120_000 }, () => {
  const worlds: Evidence[] = [];
  beforeAll(async () => {
    for (let seed = 0; seed < WORLDS; seed += 1) worlds.push((await playSeed(seed)).evidence);
  }, 120_000);

  it('finds nothing wrong with sound worlds', () => {
    for (const world of worlds) expect(faultsOf(world)).toEqual([]);
  });

  it.each(CORRUPTIONS)('says so of %s', (_what, corruption, sentence) => {
    const corrupted = worlds.flatMap((world) => corruption(world) ?? []);
    expect(corrupted.length).toBeGreaterThan(0);
    for (const world of corrupted) expect(faultsOf(world).join('\n')).toMatch(sentence);
  });
});

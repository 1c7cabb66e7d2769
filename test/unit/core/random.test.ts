import { describe, expect, it } from 'vitest';
import type { DeploymentOptions } from '../../helpers/deployment.ts';
import { playRandomly, WrongHistory } from '../../helpers/random-driver.ts';

// SEED and HISTORIES play one history again, or many more than a test run has time for.
const FIRST_SEED = Number(process.env.SEED ?? 0);
const HISTORIES = Number(process.env.HISTORIES ?? (process.env.SEED === undefined ? 40 : 1));

describe('random histories', { timeout: 20_000 + HISTORIES * 2_000 }, () => {
  it('end with a proof that holds, whatever functions, people and clocks did', async () => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + HISTORIES; seed += 1) await playRandomly({ seed });
  });

  it('are the same for the same seed', async () => {
    const story = async () => {
      const { crew, records } = await playRandomly({ seed: FIRST_SEED });
      return { calls: crew.calls, rows: records.rows() };
    };
    expect(await story()).toEqual(await story());
  });

  it.each<[string, Partial<DeploymentOptions>]>([
    ['acknowledging last', { acknowledge: 'first' }],
    ['the clause "exists"', { target: { without: 'exists' } }],
    ['the clause "state"', { target: { without: 'state' } }],
    ['the clause "timestamp"', { target: { without: 'timestamp' } }],
    ['the clause "hold"', { target: { without: 'hold' } }],
    ['the epoch check', { ledger: { epochs: 'ignored-by-moves' } }],
  ])('name the seed by which they find a pipeline without %s', async (_name, deployment) => {
    const search = async () => {
      for (let seed = 0; seed < 300; seed += 1) await playRandomly({ seed, deployment });
    };
    const found: unknown = await search().catch((error: unknown) => error);
    expect(found).toBeInstanceOf(WrongHistory);
    expect(String(found)).toMatch(/seed \d+: ./);
  });
});

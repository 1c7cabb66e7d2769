import { describe, expect, it } from 'vitest';
import { DELETION_STORIES, deletionScenario, PEOPLE_AND_DELETION } from '../../helpers/deletion-stories.ts';
import type { DeploymentOptions } from '../../helpers/deployment.ts';
import { playLateConsumer, playLateDispatcher } from '../../helpers/late.ts';
import { everyOvertaking } from '../../helpers/overtaking.ts';
import { STORIES, type StoryName, scenarioOf } from '../../helpers/scenarios.ts';
import { walk } from '../../helpers/walker.ts';

/** What was taken out of the pipeline, the story that must fail for it, and why it fails. */
interface Mutant {
  readonly without: string;
  readonly options: Partial<DeploymentOptions>;
  readonly story: StoryName | 'late dispatcher' | 'late consumer' | 'deletion';
  readonly because: RegExp;
}

const DELETION_MUTANTS: readonly Mutant[] = (
  [
    ['state', /cyd.* was deleted and not expired/],
    ['timestamp', /dan.* was not as planned/],
    ['operation-key', /eve.* was deleted and not expired by us/],
    ['hold', /bob.* was held/],
  ] as const
).map(([without, because]) => ({
  without: `the clause "${without}" of a deletion`,
  options: { target: { without, withoutOf: 'delete' } },
  story: 'deletion',
  because,
}));

const MUTANTS: readonly Mutant[] = [
  {
    without: 'the clause "exists"',
    options: { target: { without: 'exists' } },
    story: 'P19, P50, P57: people act between plan and consume',
    because: /cyd.* was removed and came back/,
  },
  {
    without: 'the clause "state"',
    options: { target: { without: 'state' } },
    story: 'P19, P50, P57: people act between plan and consume',
    because: /dan.* was not in the eligible state/,
  },
  {
    without: 'the clause "timestamp"',
    options: { target: { without: 'timestamp' } },
    story: 'P19, P50, P57: people act between plan and consume',
    because: /ada.* was not as planned/,
  },
  {
    without: 'the clause "hold"',
    options: { target: { without: 'hold' } },
    story: 'P19, P50, P57: people act between plan and consume',
    because: /bob.* was held/,
  },
  {
    without: 'the clause "operation-key"',
    options: { target: { without: 'operation-key' } },
    story: 'support sets a record back after it expired',
    because: /ada.* was changed twice/,
  },
  ...DELETION_MUTANTS,
  {
    without: 'the epoch check of slices and tallies',
    options: { ledger: { epochs: 'ignored-by-puts' } },
    story: 'late dispatcher',
    because: /no rest/,
  },
  {
    without: 'the epoch check of checkpoints and cursors',
    options: { ledger: { epochs: 'ignored-by-moves' } },
    story: 'late dispatcher',
    because: /no rest/,
  },
  {
    without: 'acknowledging last',
    options: { acknowledge: 'first' },
    story: 'P13: batches in any order',
    because: /acknowledged before its unit was accounted for/,
  },
];

async function tell({ story, options }: Mutant): Promise<unknown> {
  if (story === 'late dispatcher') return everyOvertaking((stands) => playLateDispatcher(stands, options));
  if (story === 'late consumer') return everyOvertaking((stands) => playLateConsumer(stands, options));
  if (story === 'deletion') return walk(deletionScenario(DELETION_STORIES[PEOPLE_AND_DELETION], options));
  return walk(scenarioOf(STORIES[story], options));
}

function messagesOf(error: unknown): string {
  return error instanceof Error ? `${error.message} ${messagesOf(error.cause)}` : '';
}

describe('a weakened pipeline is caught', { timeout: 60_000 }, () => {
  it.each(MUTANTS)('without $without', async (mutant) => {
    const error: unknown = await tell(mutant).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(messagesOf(error)).toMatch(mutant.because);
  });
});

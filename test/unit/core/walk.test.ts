import { describe, expect, it } from 'vitest';
import { DELETION_STORIES, deletionScenario } from '../../helpers/deletion-stories.ts';
import { STORIES, type Story, scenarioOf } from '../../helpers/scenarios.ts';
import { walk } from '../../helpers/walker.ts';

const stories: readonly (readonly [string, Story])[] = Object.entries(STORIES);

describe('call walker', () => {
  it.each(stories)(
    '%s: the same end with a crash or a lost answer at any call',
    { timeout: 60_000 },
    async (_name, story) => {
      const { calls, plays } = await walk(scenarioOf(story));
      expect(plays).toBe(1 + 4 * calls.length);
    },
  );

  it.each(Object.entries(DELETION_STORIES))(
    '%s: what was expired is removed once and accounted for, with a crash or a lost answer at any call',
    { timeout: 60_000 },
    async (_name, story) => {
      const { calls, plays } = await walk(deletionScenario(story));
      expect(plays).toBe(1 + 4 * calls.length);
    },
  );
});

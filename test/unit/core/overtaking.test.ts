import { describe, expect, it } from 'vitest';
import { playLateConsumer, playLateDispatcher } from '../../helpers/late.ts';
import { everyOvertaking } from '../../helpers/overtaking.ts';

describe('a late invocation', { timeout: 60_000 }, () => {
  it('P8: a dispatcher whose lease lapsed at any call spoils nothing of the one that took over', async () => {
    const plays = await everyOvertaking((stands) => playLateDispatcher(stands));
    expect(plays).toBeGreaterThan(300);
  });

  it('P43: a consumer whose message was delivered again meanwhile changes nothing twice', async () => {
    const plays = await everyOvertaking((stands) => playLateConsumer(stands));
    expect(plays).toBeGreaterThan(100);
  });
});

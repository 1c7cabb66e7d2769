import { describe, expect, it } from 'vitest';
import { playLateConsumer, playLateDispatcher, playLatePerson } from '../../helpers/late.ts';
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

  it.each([
    ['redrive', 'redrive'],
    ['reconcile', 'reconcile'],
    ['reconcile', 'redrive'],
    ['redrive', 'reconcile'],
  ] as const)('a run with a quarantined unit comes to its end where a late %s meets a %s', async (...pair) => {
    const plays = await everyOvertaking((stands) => playLatePerson(stands, pair));
    expect(plays).toBeGreaterThan(20);
  });
});

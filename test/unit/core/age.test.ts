import { describe, expect, it } from 'vitest';
import type { Deployment } from '../../helpers/deployment.ts';
import { deliverAll, settle } from '../../helpers/settle.ts';
import { checkSound, watch } from '../../helpers/soundness.ts';
import { accounts, deploy, published, theRun, theUnit } from './stage.ts';

const HOUR = 3_600_000;
const AGE = { unitAgeHours: '5' };

/** So long after the plan was frozen. */
async function waitUntil(stage: Deployment, millis: number): Promise<void> {
  const { frozenAt = 0 } = await theRun(stage);
  stage.world.advance(frozenAt + millis - stage.world.millis);
}

describe('the age of a unit', () => {
  it('just at the cap is worked on; a millisecond later it waits for a person, with all its attempts left', async () => {
    const young = await published(accounts(3), AGE);
    await waitUntil(young, 5 * HOUR);
    await deliverAll(young);
    expect(await theUnit(young)).toMatchObject({ state: 'committed' });

    const old = await published(accounts(3), AGE);
    await waitUntil(old, 5 * HOUR + 1);
    await deliverAll(old);
    const unit = await theUnit(old);
    expect(unit).toMatchObject({ state: 'quarantined', reason: 'too_old', errorClass: 'TooOld', attempts: 0 });
    expect(old.records.writes).toHaveLength(0);
    expect(old.queue.deadLetters.copies().map((copy) => copy.labels)).toEqual([
      { reason: 'too_old', errorClass: 'TooOld', generation: '0' },
    ]);
  });

  it('ends a unit that keeps failing with budget left, and the run closes around it', async () => {
    const stage = await published(accounts(6), { ...AGE, maxAttempts: '10' });
    const seen = watch(stage);
    stage.target.poison('a0000', { class: 'transient', error: 'ThrottlingError' });
    await deliverAll(stage);
    await waitUntil(stage, 6 * HOUR);
    await settle(stage);
    expect(await theUnit(stage)).toMatchObject({ state: 'quarantined', reason: 'too_old' });
    expect((await theUnit(stage)).attempts).toBeLessThan(10);
    expect(await theRun(stage)).toMatchObject({ status: 'complete_with_quarantine', closing: { remaining: 3 } });
    checkSound(stage, seen);
  });

  it('counts anew from a redrive, and from nothing else: P61: the generation after it grows old as well', async () => {
    const stage = await published(accounts(3), AGE);
    const seen = watch(stage);
    await waitUntil(stage, 6 * HOUR);
    await settle(stage);
    await stage.redrive();
    expect(await theUnit(stage)).toMatchObject({ state: 'published', generation: 1, attempts: 0 });
    for (const { id } of accounts(3)) stage.target.poison(String(id), { class: 'transient', error: 'ThrottlingError' });
    await deliverAll(stage);
    expect(await theUnit(stage)).toMatchObject({ state: 'published', generation: 1, attempts: 1 });
    stage.world.advance(5 * HOUR + 1);
    await settle(stage);
    expect(await theUnit(stage)).toMatchObject({ state: 'quarantined', reason: 'too_old', generation: 1 });

    stage.target.healAll();
    stage.world.advance(5 * 60_000);
    await stage.redrive();
    stage.world.advance(4 * HOUR);
    await settle(stage);
    expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 3 } });
    checkSound(stage, seen);
  });

  it('does not begin again where a lost message was made anew', async () => {
    const stage = await published(accounts(3), AGE);
    stage.queue.purge();
    await waitUntil(stage, 6 * HOUR);
    for (let pass = 0; pass < 4; pass += 1) await stage.reconcile();
    expect(stage.queue.work.copies()).toHaveLength(1);
    await settle(stage);
    expect(await theUnit(stage)).toMatchObject({ state: 'quarantined', reason: 'too_old', generation: 0 });
  });

  it('does not count while the run is only planned: a report of long ago ages nothing', async () => {
    const stage = deploy(accounts(3), { ...AGE, mode: 'report-only' });
    await stage.dispatch();
    stage.world.advance(100 * HOUR);
    await settle(stage);
    expect(await theRun(stage)).toMatchObject({ status: 'reported' });
    expect(stage.ledger.contents().units).toEqual([]);
  });
});

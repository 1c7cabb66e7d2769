import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Selection } from '../../lib/core/ledger/items.ts';
import type { Ledger } from '../../lib/core/ports/index.ts';
import { allOf, aRun, aRunId, T0 } from './ledger-samples.ts';

/** Units as a wide incident leaves them: two runs, whole batches and split records, some of a second generation. */
export function aSelection(count: number, policyId = `p-${randomUUID()}`): Selection {
  const runs = [aRunId(), aRunId()].toSorted();
  const units = Array.from({ length: count }, (_, n) => ({
    runId: runs[n < count / 2 ? 0 : 1] ?? '',
    unit: n % 3 === 0 ? `${n * 11}.${(n * 7) % 1_000}` : String(n * 11),
    generation: n % 5 === 0 ? 1 : 0,
  }));
  return { policyId, act: 'redrive', digest: `digest-${randomUUID()}`, at: T0, units };
}

/** What every ledger must do with what a person chose, and with messages that a person gave up. */
export function selectionCases(ledgerOf: () => Ledger): void {
  it.each([0, 1, 37])('gives a selection of %i units back as it was put, by policy and digest', async (count) => {
    const selection = aSelection(count);
    const { policyId, digest } = selection;
    expect(await ledgerOf().readSelection(policyId, digest)).toBeUndefined();
    await ledgerOf().putSelection(selection);
    await ledgerOf().putSelection(selection);
    expect(await ledgerOf().readSelection(policyId, digest)).toEqual(selection);
    expect(await ledgerOf().readSelection(policyId, 'another')).toBeUndefined();
    expect(await ledgerOf().readSelection('another', digest)).toBeUndefined();
  });

  it('keeps the order of units whose runs alternate', async () => {
    const one = aSelection(6);
    const units = one.units
      .toSorted((a, b) => a.unit.localeCompare(b.unit))
      .map((unit, n) => ({ ...unit, runId: `r${n % 2}` }));
    const selection = { ...one, units };
    await ledgerOf().putSelection(selection);
    expect((await ledgerOf().readSelection(one.policyId, one.digest))?.units).toEqual(units);
  });

  it('holds as many units as one act may choose', async () => {
    const selection = aSelection(10_000);
    await ledgerOf().putSelection(selection);
    expect(await ledgerOf().readSelection(selection.policyId, selection.digest)).toEqual(selection);
  });

  it('notes that a bad message was given up: the first time stays, and none is made by it', async () => {
    const { policyId } = aRun();
    const message = { policyId, digest: 'd1', reason: 'malformed', at: T0 };
    await ledgerOf().abandonBadMessage(policyId, 'd1', T0);
    expect(await ledgerOf().readBadMessage(policyId, 'd1')).toBeUndefined();
    await ledgerOf().recordBadMessage(message);
    expect(await ledgerOf().readBadMessage(policyId, 'd1')).toEqual(message);
    await ledgerOf().abandonBadMessage(policyId, 'd1', T0 + 5);
    await ledgerOf().abandonBadMessage(policyId, 'd1', T0 + 9);
    await ledgerOf().recordBadMessage({ ...message, reason: 'forged', at: T0 + 11 });
    const given = { ...message, abandonedAt: T0 + 5 };
    expect(await ledgerOf().readBadMessage(policyId, 'd1')).toEqual(given);
    expect(await allOf((cursor) => ledgerOf().badMessages(policyId, cursor))).toEqual([given]);
  });
}

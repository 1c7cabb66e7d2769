import assert from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import type { Deployment } from '../../helpers/deployment.ts';
import type { Interference } from '../../helpers/process.ts';
import { settle } from '../../helpers/settle.ts';
import { type Scenario, walk } from '../../helpers/walker.ts';
import { lettersOf, MINUTE_MILLIS, onlyActs, poisonBatch, THROTTLED, untilDone } from './acts-stage.ts';
import { accounts, deploy } from './stage.ts';

interface Walked {
  readonly stage: Deployment;
  /** Audit entries of a unit at the time of its first move, by name. */
  readonly unaudited: string[];
}

/** Units that an entry of the trail names. */
function audited(stage: Deployment): ReadonlySet<string> {
  return new Set(stage.ledger.contents().audit.flatMap(({ entry }) => entry.units));
}

function prepared(interference: Interference): Walked {
  const stage = deploy(accounts(12), {}, { ledger: { paging: { size: 2, emptyPages: 'between' } }, interference });
  const unaudited: string[] = [];
  stage.ledger.onUnitMoved = ({ edge, after }) => {
    if ((edge === 'redrive' || edge === 'abandon') && !audited(stage).has(after.unit)) unaudited.push(after.unit);
  };
  return { stage, unaudited };
}

/** Batches 0 and 2 fail as a whole, one record of batch 1 alone; one letter was moved by SQS itself. */
async function failed(stage: Deployment): Promise<void> {
  poisonBatch(stage, 0);
  poisonBatch(stage, 2);
  stage.target.poison('a0004', THROTTLED);
  await stage.dispatch();
  await settle(stage);
  stage.target.healAll();
}

function checkDone({ stage, unaudited }: Walked): void {
  assert.deepEqual(unaudited, [], 'a unit moved before the trail named it');
  const waiting = stage.ledger.contents().units.filter(({ state }) => state === 'quarantined');
  const names = new Set(waiting.map(({ unit }) => unit));
  for (const unit of Object.keys(lettersOf(stage))) assert.ok(names.has(unit), `a letter of ${unit} was left behind`);
  const effects = Map.groupBy(stage.records.writes, ({ key }) => key);
  for (const [key, writes] of effects) assert.equal(writes.length, 1, `${key} was changed ${writes.length} times`);
}

describe('an act killed before or after any of its calls, or whose answers were lost, and asked for again', () => {
  it('redrive: one effect for each record, no letter left behind, each unit audited before it moved', {
    timeout: 120_000,
  }, async () => {
    const scenario: Scenario<Walked> = {
      make: prepared,
      play: async ({ stage }) => {
        await failed(stage);
        await untilDone(stage, { act: 'redrive', all: true });
        await settle(stage);
        stage.world.advance(5 * MINUTE_MILLIS);
        await untilDone(stage, { act: 'redrive', all: true });
        await settle(stage);
      },
      check: (walked) => {
        checkDone(walked);
        const [run] = walked.stage.ledger.contents().runs;
        assert.equal(run?.status, 'complete');
        assert.equal(walked.stage.records.writes.length, 12);
        assert.deepEqual(lettersOf(walked.stage), {});
      },
      end: ({ stage }) => stage.ledger.contents().units.map(({ unit, state, counts }) => [unit, state, counts]),
    };
    const { calls, plays } = await walk(onlyActs(scenario));
    expect(plays).toBe(1 + 4 * calls.length);
    const names = new Set(calls.map(({ name }) => name));
    for (const name of ['putSelection', 'appendAudit', 'moveUnit']) expect(names).toContain(`ledger.${name}`);
    for (const name of ['send', 'deleteDeadLetters', 'depth']) expect(names).toContain(`queue.${name}`);
  });

  it('abandon: the run closes, its proof holds, nothing of it is left in the dead-letter queue', {
    timeout: 120_000,
  }, async () => {
    const scenario: Scenario<Walked> = {
      make: prepared,
      play: async ({ stage }) => {
        await failed(stage);
        await untilDone(stage, { act: 'abandon', all: true });
        await settle(stage);
        await settle(stage);
      },
      check: (walked) => {
        checkDone(walked);
        const [run] = walked.stage.ledger.contents().runs;
        assert.equal(run?.status, 'complete');
        assert.deepEqual(lettersOf(walked.stage), {});
        const { processed, skipped, abandoned, remaining } = run?.closing ?? {};
        assert.deepEqual(
          { processed, skipped, abandoned, remaining },
          { processed: 5, skipped: 7, abandoned: 7, remaining: 0 },
        );
      },
      end: ({ stage }) => stage.ledger.contents().units.map(({ unit, state }) => [unit, state]),
    };
    const { calls, plays } = await walk(onlyActs(scenario));
    expect(plays).toBe(1 + 4 * calls.length);
    expect(calls.map(({ name }) => name)).toContain('queue.deleteDeadLetters');
  });
});

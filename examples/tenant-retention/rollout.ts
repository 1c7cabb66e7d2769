import { DAY_MILLIS } from '../../lib/core/identity/instant.ts';
import { runIdOf } from '../../lib/core/identity/keys.ts';
import type { RunItem } from '../../lib/core/ledger/items.ts';
import type { RunDetailView } from '../../lib/core/views.ts';
import type { Progress } from '../../lib/local/cdk.ts';
import { putClocksAhead } from '../../lib/local/clock.ts';
import { setFeed } from '../../lib/local/faults.ts';
import { type Item, readRecords } from '../../lib/local/records.ts';
import { redeploy } from '../../lib/local/up/bring-up.ts';
import type { Ended } from '../../lib/local/up/carry-out.ts';
import { compareEnd, compareRows } from '../../lib/local/up/check.ts';
import { close, startRun, viewOf, waitForUnits } from '../../lib/local/up/follow.ts';
import { outputOf, type Pipeline } from '../../lib/local/up/pipeline.ts';
import type { Calendar, Step } from './calendar.ts';
import { compareRun, expectedRows, type Outcomes, outcomesOf } from './compare.ts';
import { type Completion, compareGroups, completionOrder, groupsOf } from './groups.ts';
import { isHeld, judge, type Wanted, wantedBy } from './judge.ts';
import { People } from './people.ts';
import { type Records, ShipmentPath, type Tally } from './shipment-path.ts';
import { say } from './summary.ts';

/** How one step ended. */
export interface StepEnd {
  readonly step: Step;
  readonly run: RunDetailView;
  readonly path: Tally;
  readonly differences: readonly string[];
  readonly groups: number;
  readonly completions: readonly Completion[];
}

/** Updates of planned records that are acknowledged before the first batch is worked on. */
const UPDATES_AHEAD_OF_THE_BATCHES = 25;
const FUNCTIONS = ['Dispatcher', 'Consumer', 'Redrive', 'Reconciler'] as const;

/** The four steps on one table. `records` is what the table must hold by all that was acknowledged. */
export class RolloutOnTable {
  readonly #records: Records;
  readonly #keys = new Map<string, string>();
  readonly #calendar: Calendar;
  readonly #progress: Progress;
  #pipeline: Pipeline;

  constructor(pipeline: Pipeline, calendar: Calendar, items: readonly Item[], progress: Progress) {
    this.#pipeline = pipeline;
    this.#calendar = calendar;
    this.#progress = progress;
    this.#records = new Map(items.map((item) => [item.id?.S ?? '', item]));
  }

  async carryOut(): Promise<Ended> {
    const held = [...this.#records].filter(([, item]) => isHeld(item));
    const ends: StepEnd[] = [];
    for (const [n, step] of this.#calendar.steps.entries()) {
      if (n > 0) await this.#deploy(step);
      ends.push(await this.#carryOutStep(step));
      // What follows on a wrong table would only say so again.
      if (ends.at(-1)?.differences.length !== 0) break;
    }
    const last = ends.at(-1);
    if (last === undefined) throw new TypeError('A rollout without steps.');
    const touched = held.filter(([id]) => this.#records.get(id)?.status?.S !== 'ACTIVE').length;
    return {
      run: last.run,
      differences: ends.flatMap(({ step, differences }) => differences.map((one) => `${step.title}: ${one}`)),
      rowsChecked: this.#records.size,
      rollout: { runs: ends.map(({ run }) => run), summary: say(ends) },
      remarks: [
        `${held.length} records were on legal hold or in dispute from the beginning; ${touched} of them were changed by a run`,
      ],
    };
  }

  async #deploy({ title, settings, daysLater }: Step): Promise<void> {
    const { aws } = this.#pipeline;
    this.#progress(`${title}: deploying the stack again, with the parameters of this step`);
    this.#pipeline = await redeploy(this.#pipeline, settings);
    if (daysLater === 0) return;
    this.#progress(`${title}: ${daysLater} days pass, for the functions of the deployment`);
    const { outputs } = this.#pipeline;
    const names = FUNCTIONS.map((name) => outputOf(outputs, `${name}FunctionName`));
    await putClocksAhead(aws, names, daysLater * DAY_MILLIS);
  }

  async #carryOutStep(step: Step): Promise<StepEnd> {
    const { dynamo } = this.#pipeline;
    const { recordTableName, mode } = step.settings;
    const now = () => Date.now() + step.daysLater * DAY_MILLIS;
    const wanted = wantedBy(step.settings, step.scheduledTime, this.#keys);
    const from = now();
    if (wanted.kind === 'delete') await this.#people().holdBack(this.#standing('planned', wanted).slice(0, 10));
    const path = new ShipmentPath(dynamo, recordTableName, this.#records, this.#underWay(), now);
    const worked = mode === 'enforce' ? await this.#enforce(step, wanted, path, now) : await this.#report(step, wanted);
    const tally = await path.stop();
    const compared = await this.#compare(step, worked, { from, until: now() });
    return { step, path: tally, ...worked, ...compared };
  }

  async #report(step: Step, wanted: Wanted): Promise<Worked> {
    const before = new Map(this.#records);
    const item = await this.#plan(step);
    return { item, before, wanted, groups: 0, completions: [], differences: [] };
  }

  async #enforce(step: Step, wanted: Wanted, path: ShipmentPath, now: () => number): Promise<Worked> {
    const { aws, outputs } = this.#pipeline;
    const consumer = outputOf(outputs, 'ConsumerFunctionName');
    await setFeed(aws, consumer, 'off');
    const item = await this.#plan(step);
    const before = new Map(this.#records);
    if (item.status !== 'draining') {
      return { item, before, wanted, groups: 0, completions: [], differences: [] };
    }
    const groups = await groupsOf(this.#pipeline, item);
    const planned = this.#standing('planned', wanted);
    if (wanted.kind === 'delete') {
      await this.#people().holdBack(planned.slice(0, 10));
      await this.#people().shipAgain(planned.slice(10, 20), now());
      await this.#people().remove(planned.slice(20, 25));
    }
    await path.turnTo(wanted.kind === 'delete' ? planned.slice(25) : planned, UPDATES_AHEAD_OF_THE_BATCHES);
    await setFeed(aws, consumer, 'on');
    await waitForUnits(this.#pipeline, item, this.#progress);
    return {
      item: await close(this.#pipeline, item.runId),
      before,
      wanted,
      groups: groups.size,
      completions: await completionOrder(this.#pipeline, item.runId),
      differences: compareGroups(groups),
    };
  }

  async #plan({ title, settings, scheduledTime }: Step): Promise<RunItem> {
    const runId = runIdOf(settings.policyId, settings.policyVersion, scheduledTime);
    this.#progress(`${title}: firing the schedule's target for run ${runId}`);
    const scheduleName = outputOf(this.#pipeline.outputs, 'ScheduleName');
    const firing = { scheduleName, scheduledTime: new Date(scheduledTime) };
    const run = await startRun(this.#pipeline, runId, firing, this.#progress);
    const { plan } = run;
    this.#progress(`${title}: ${run.status}, ${plan?.records} records in ${plan?.batches} batches`);
    return run;
  }

  /** Compares the run and every row with what must be, and takes the rows over as they are found. */
  async #compare(
    { settings }: Step,
    { item, before, wanted, differences }: Worked,
    span: { readonly from: number; readonly until: number },
  ): Promise<Pick<StepEnd, 'run' | 'differences'>> {
    const run = await viewOf(this.#pipeline, item.runId);
    const outcomes: Outcomes =
      settings.mode === 'enforce' && item.status !== 'refused'
        ? outcomesOf(before, this.#records, wanted)
        : new Map<string, string>();
    const found = new Map<string, Item>();
    for await (const row of readRecords(this.#pipeline.dynamo, settings.recordTableName)) {
      found.set(row.id?.S ?? '', row);
    }
    const expected = expectedRows(this.#records, outcomes, item);
    const all = [
      ...differences,
      ...compareEnd(run, await this.#pipeline.sending.queue.depth()),
      ...(item.status === 'refused' ? [] : compareRun(run, before, outcomes, wanted)),
      ...(await compareRows(found.values(), expected, span)),
    ];
    this.#takeOver(outcomes, found);
    return { run, differences: all };
  }

  #takeOver(outcomes: Outcomes, found: ReadonlyMap<string, Item>): void {
    for (const [id, outcome] of outcomes) {
      const row = found.get(id);
      if (outcome === 'deleted') this.#records.delete(id);
      if (outcome !== 'expired' || row === undefined) continue;
      this.#records.set(id, row);
      this.#keys.set(id, row.sweepOperationKey?.S ?? '');
    }
  }

  #people(): People {
    return new People(this.#pipeline.dynamo, 'shipments', this.#records);
  }

  #standing(standing: ReturnType<typeof judge>, wanted: Wanted): readonly string[] {
    return [...this.#records].filter(([, item]) => judge(item, wanted) === standing).map(([id]) => id);
  }

  /** Shipments that are due in no step. */
  #underWay(): readonly string[] {
    const { enforceCutoff } = this.#calendar;
    const isUnderWay = ({ status, lastUpdate }: Item) =>
      status?.S === 'ACTIVE' && /^\d{10}$/.test(lastUpdate?.N ?? '') && Number(lastUpdate?.N) * 1_000 > enforceCutoff;
    return [...this.#records].filter(([, item]) => isUnderWay(item)).map(([id]) => id);
  }
}

/** A run that was carried out, with the records as they were when its plan was frozen. */
interface Worked {
  readonly item: RunItem;
  readonly before: ReadonlyMap<string, Item>;
  readonly wanted: Wanted;
  readonly groups: number;
  readonly completions: readonly Completion[];
  readonly differences: readonly string[];
}

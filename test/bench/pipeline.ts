import { DynamoAdmission } from '../../lib/aws/admission.ts';
import { PowertoolsIdempotency } from '../../lib/aws/idempotency.ts';
import { createProcess } from '../../lib/aws/process.ts';
import { openRecordSource } from '../../lib/aws/targets/dynamodb/source.ts';
import { targetOf } from '../../lib/aws/targets/dynamodb/target.ts';
import { consume } from '../../lib/core/consume/consume.ts';
import type { Delivery } from '../../lib/core/consume/delivery.ts';
import { prepareEvent } from '../../lib/core/consume/prepare.ts';
import { Gate } from '../../lib/core/control/gate.ts';
import { addCost, type Cost, NO_COST } from '../../lib/core/cost/cost.ts';
import { type DispatchPorts, dispatch } from '../../lib/core/plan/dispatch.ts';
import { MESSAGES_PER_EVENT } from '../../lib/core/policy/budget.ts';
import { parseSettings } from '../../lib/core/policy/parse.ts';
import { NO_LIMIT, type Settings } from '../../lib/core/policy/settings.ts';
import type { GrantProbe, Log, Meter } from '../../lib/core/ports/index.ts';
import { standingOf } from '../../lib/core/reconcile/batches.ts';
import { reconcile } from '../../lib/core/reconcile/reconcile.ts';
import { type RunView, viewRun } from '../../lib/core/views.ts';
import { type BenchStore, feed } from './store.ts';

export const SCHEDULED_TIME = Date.UTC(2026, 0, 1);

const PLENTY = { remainingMillis: () => 800_000 };
/** The consumer is not deployed here; asking it is one call for a whole run. */
const GRANTED: GrantProbe = { missingGrants: async () => [] };
const QUIET: Log = { event: () => undefined };

export interface BenchRun {
  readonly view: RunView;
  /** Every call of the pipeline's own clients, those after a unit's last accounting included. */
  readonly cost: Cost;
  readonly largestBodyBytes: number;
  readonly bodies: readonly string[];
}

export interface BenchOptions {
  readonly batchSize: number;
  /** Absent: as fast as it goes. */
  readonly recordsPerSecond?: number;
}

export function benchSettings(
  store: Pick<BenchStore, 'recordTable'>,
  { batchSize, recordsPerSecond }: BenchOptions,
): Settings {
  const parsed = parseSettings({
    policyId: 'bench',
    policyVersion: 'v1',
    recordTableName: store.recordTable,
    tenantAttribute: 'tenant',
    timestampAttribute: 'lastActivity',
    timestampFormat: 'iso-8601',
    holdAttributes: 'hold',
    retentionDays: '1461',
    mode: 'enforce',
    batchSize: String(batchSize),
    recordsPerSecond: String(recordsPerSecond ?? NO_LIMIT),
    // Here nearly every record is due.
    capRecords: NO_LIMIT,
    capSharePercent: NO_LIMIT,
  });
  if (parsed.kind === 'invalid') throw new Error(parsed.problems.map((problem) => problem.message).join(' '));
  return parsed.settings;
}

/** A meter that keeps what the core took from it, so that nothing a unit accounted for is lost to the sum. */
function summing(meter: Meter): Meter & { total(): Cost } {
  let sum = NO_COST;
  const take = () => {
    const taken = meter.take();
    sum = addCost(sum, taken);
    return taken;
  };
  return {
    take,
    total: () => {
      take();
      return sum;
    },
  };
}

/** The functions of the pipeline in this process, on real adapters; only the event source mapping is played. */
export async function runPipeline(store: BenchStore, options: BenchOptions): Promise<BenchRun> {
  const shared = createProcess(
    {
      LEDGER_TABLE: store.ledgerTable,
      IDEMPOTENCY_TABLE: store.idempotencyTable,
      WORK_QUEUE_URL: store.workQueueUrl,
      DEAD_LETTER_QUEUE_URL: store.deadLetterQueueUrl,
      SIGNING_SECRET_ARN: store.secretArn,
      TERMINAL_LOG_GROUP: 'bench',
    },
    ['idempotencyTable', 'deadLetterQueueUrl'],
  );
  const meter = summing(shared.meter);
  const ports = { ...shared, meter, log: QUIET, owner: 'bench' };
  const settings = benchSettings(store, options);
  const sourceFor: DispatchPorts['sourceFor'] = ({ cutoff, kind }) =>
    openRecordSource({ client: shared.dynamo, settings, cutoff, kind });
  const request = { scheduledTime: SCHEDULED_TIME, startedBy: 'bench' };
  const dispatched = await dispatch({ ...ports, sourceFor, probe: GRANTED }, settings, request, PLENTY);

  const target = targetOf('batch-execute', { client: shared.dynamo, meter: shared.meter });
  const idempotency = new PowertoolsIdempotency({
    client: shared.dynamo,
    tableName: store.idempotencyTable,
    deadline: PLENTY,
  });
  const policyId = settings.policyId;
  const admission = new DynamoAdmission({ client: shared.dynamo, tableName: store.ledgerTable, policyId });
  const gate = new Gate(shared.ledger, shared.clock);
  const consumer = { ...ports, target, idempotency, admission, policyId, gate };
  const bodies: string[] = [];
  const work = async (deliveries: readonly Delivery[]) => {
    const done = new Set<string>();
    const prepared = await prepareEvent(ports, deliveries);
    for (const delivery of deliveries) {
      bodies.push(delivery.body);
      const found = prepared.get(delivery.messageId);
      if (found === undefined) continue;
      const decision = await consume(consumer, delivery, found, PLENTY);
      if (decision.kind === 'acknowledge') done.add(delivery.messageId);
    }
    return done;
  };
  while ((await feed(store.workQueueUrl, MESSAGES_PER_EVENT, work)) > 0);

  const still = { resumer: { resume: async () => undefined }, intake: { set: async () => undefined } };
  await reconcile({ ...ports, ...still, policyId }, PLENTY);
  const cost = meter.total();
  const run = await shared.ledger.readRun(dispatched.runId);
  if (run === undefined) throw new Error('The run is not in the ledger.');
  return {
    view: viewRun(run, await standingOf(shared.ledger, run), shared.clock.now()),
    cost,
    largestBodyBytes: Math.max(0, ...bodies.map((body) => Buffer.byteLength(body))),
    bodies,
  };
}

import pMap from 'p-map';
import { addCost } from '../cost/cost.ts';
import { DAY_MILLIS, type EpochMillis } from '../identity/instant.ts';
import type { RunItem, SegmentCursor } from '../ledger/items.ts';
import type { Clock, Deadline, DiscoveredRecord, Ledger, Meter, RecordPage, RecordSource } from '../ports/index.ts';
import { LEASE_MILLIS } from './lease.ts';
import { type ClosedSlice, OpenSlices, sealSlice, sliceLimits } from './open-slices.ts';
import { RunningTally } from './tally.ts';

export interface PlanPorts {
  readonly source: RecordSource;
  /** Whether a due record may be planned at all: a deletion takes only what a run of ours expired. */
  readonly eligible: (record: DiscoveredRecord) => boolean;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly meter: Meter;
}

export type DiscoverEnd =
  | { readonly kind: 'discovered'; readonly run: RunItem }
  | { readonly kind: 'out-of-time'; readonly run: RunItem }
  | { readonly kind: 'lease-lost' };

/** Time that discovery keeps back to save its place, in milliseconds. */
const MARGIN_MILLIS = 30_000;

/**
 * A checkpoint closes open slices before they are full. So it waits until they hold little of what was planned since the
 * last one; but not for ever: that much would be read again after a crash.
 */
const PLANNED_PER_CHECKPOINT = { least: 50_000, most: 5_000_000 } as const;
const OPEN_AT_CHECKPOINT = 1 / 10;
/** What fits into one item, packed. */
const TENANTS_PER_TALLY = 10_000;
const PUTS_AT_ONCE = 16;

/** Due is before the cutoff and, where a window is set, not longer ago than that. */
function isDue({ cutoff, settings }: RunItem, at: EpochMillis): boolean {
  return at < cutoff && (settings.windowDays === null || at >= cutoff - settings.windowDays * DAY_MILLIS);
}

/** Discovery between two checkpoints. */
class Discovery {
  readonly #ports: PlanPorts;
  readonly #slices: OpenSlices;
  #run: RunItem;
  #tally = new RunningTally();
  /** Tallies written since the last checkpoint, which counts them. */
  #tallies = 0;
  #cursors: Record<string, SegmentCursor>;
  #nextOrdinal: number;
  /** Since the last checkpoint. */
  #planned = 0;
  #closed: ClosedSlice[] = [];

  constructor(ports: PlanPorts, run: RunItem) {
    this.#ports = ports;
    this.#run = run;
    this.#slices = new OpenSlices(sliceLimits(run.settings.batchSize));
    this.#cursors = { ...run.checkpoint.cursors };
    this.#nextOrdinal = run.checkpoint.nextOrdinal;
  }

  get run(): RunItem {
    return this.#run;
  }

  /** Reads one page of each of the next segments that are not done; false where none was left. */
  async readRound(): Promise<boolean> {
    const active = this.#ports.source.segments
      .filter((segment) => this.#cursors[segment]?.kind !== 'done')
      .slice(0, this.#run.settings.discoverySegments);
    if (active.length === 0) return false;
    const pages = await Promise.all(
      active.map(async (segment): Promise<readonly [string, RecordPage]> => {
        const at = this.#cursors[segment];
        return [segment, await this.#ports.source.page(segment, at?.kind === 'at' ? at.cursor : undefined)];
      }),
    );
    for (const [segment, page] of pages) {
      this.#tally.countExamined(page.records.length);
      for (const record of page.records) this.#absorb(record);
      this.#cursors[segment] = page.next === undefined ? { kind: 'done' } : { kind: 'at', cursor: page.next };
    }
    return true;
  }

  #absorb(record: DiscoveredRecord): void {
    const { timestamp, tenant } = record;
    // A deletion has no business with what carries no operation key: somebody else set it to that state.
    if (this.#run.kind === 'delete' && record.operationKey === undefined) return;
    if (timestamp.kind === 'unreadable') {
      this.#tally.countUnreadable(timestamp.reason);
    } else if (isDue(this.#run, timestamp.millis) && this.#ports.eligible(record)) {
      if (tenant === undefined) this.#tally.countUnreadable('tenant_unreadable');
      else if (record.held) this.#tally.countDue(tenant, timestamp.millis, 'held');
      else if (this.#isFull()) this.#tally.countDue(tenant, timestamp.millis, 'overLimit');
      else this.#plan(record, tenant, timestamp.millis);
    }
  }

  #isFull(): boolean {
    const { settings, checkpoint } = this.#run;
    return settings.recordsPerRun !== null && checkpoint.planned + this.#planned >= settings.recordsPerRun;
  }

  #plan({ key, witness, writeUnits }: DiscoveredRecord, tenant: string, at: EpochMillis): void {
    const closed = this.#slices.add(tenant, { key, witness, writeUnits });
    if (closed === 'repeated') return;
    this.#closed.push(...closed);
    this.#tally.countDue(tenant, at, 'planned');
    this.#planned += 1;
  }

  /** Writes the slices that are closed; false where the lease is another's. */
  async writeSlices(): Promise<boolean> {
    const { runId, lease } = this.#run;
    const sealed = this.#closed.map((closed) => sealSlice(closed, runId, this.#nextOrdinal++, lease.epoch));
    this.#closed = [];
    const writes = await pMap(sealed, (slice) => this.#ports.ledger.putSlice(slice), { concurrency: PUTS_AT_ONCE });
    return writes.every((write) => write === 'written');
  }

  get wantsCheckpoint(): boolean {
    const { least, most } = PLANNED_PER_CHECKPOINT;
    if (this.#planned < least) return false;
    return this.#planned >= most || this.#slices.openEntries <= this.#planned * OPEN_AT_CHECKPOINT;
  }

  /** Writes a tally that is full; false where the lease is another's. */
  async writeFullTally(): Promise<boolean> {
    return this.#tally.tenantCount < TENANTS_PER_TALLY || this.#writeTally();
  }

  async #writeTally(): Promise<boolean> {
    const { runId, lease, checkpoint } = this.#run;
    const written = await this.#ports.ledger.putTally({
      runId,
      number: checkpoint.nextTally + this.#tallies,
      epoch: lease.epoch,
      examined: this.#tally.examined,
      tenants: Object.fromEntries(this.#tally.tenants()),
      unreadable: this.#tally.unreadable(),
    });
    if (written === 'superseded') return false;
    this.#tallies += 1;
    this.#tally = new RunningTally();
    return true;
  }

  /** Closes every slice, then moves cursors and ordinals on the run: what is below them is planned for good. */
  async checkpoint(): Promise<boolean> {
    this.#closed.push(...this.#slices.closeAll());
    if (!(await this.writeSlices())) return false;
    if (!(await this.#writeTally())) return false;
    const { runId, lease, checkpoint } = this.#run;
    const moved = await this.#ports.ledger.moveRun(runId, 'checkpoint', lease.epoch, {
      checkpoint: {
        nextOrdinal: this.#nextOrdinal,
        nextTally: checkpoint.nextTally + this.#tallies,
        planned: checkpoint.planned + this.#planned,
        cursors: this.#cursors,
      },
      leaseUntil: this.#ports.clock.now() + LEASE_MILLIS,
      cost: addCost(this.#run.cost, this.#ports.meter.take()),
    });
    if (moved.kind === 'refused') return false;
    this.#run = moved.run;
    this.#tallies = 0;
    this.#planned = 0;
    return true;
  }

  /** Renews the lease when a third of it is spent; false where it is another's. */
  async renew(): Promise<boolean> {
    const { runId, lease } = this.#run;
    const now = this.#ports.clock.now();
    if (lease.until - now > (LEASE_MILLIS * 2) / 3) return true;
    const moved = await this.#ports.ledger.moveRun(runId, 'checkpoint', lease.epoch, {
      leaseUntil: now + LEASE_MILLIS,
    });
    if (moved.kind === 'refused') return false;
    this.#run = moved.run;
    return true;
  }
}

/**
 * Finds the due records and writes them into slices, in memory that grows with open slices and tenants and not with
 * records. Goes on from the run's checkpoint; what a dead dispatcher wrote beyond it is written over.
 */
export async function discover(ports: PlanPorts, run: RunItem, deadline: Deadline): Promise<DiscoverEnd> {
  const discovery = new Discovery(ports, run);
  const done =
    run.checkpoint.nextTally > 0 && ports.source.segments.every((s) => run.checkpoint.cursors[s]?.kind === 'done');
  if (done) return { kind: 'discovered', run };
  while (await discovery.readRound()) {
    const written = (await discovery.writeSlices()) && (await discovery.writeFullTally());
    if (!written) return { kind: 'lease-lost' };
    const short = deadline.remainingMillis() < MARGIN_MILLIS;
    const held = short || discovery.wantsCheckpoint ? await discovery.checkpoint() : await discovery.renew();
    if (!held) return { kind: 'lease-lost' };
    if (short) return { kind: 'out-of-time', run: discovery.run };
  }
  return (await discovery.checkpoint()) ? { kind: 'discovered', run: discovery.run } : { kind: 'lease-lost' };
}

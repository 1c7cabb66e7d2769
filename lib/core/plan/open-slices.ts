import { keysDigest, sliceDigest } from '../identity/digests.ts';
import type { Slice, SliceEntry } from '../ledger/items.ts';

/** The entries of one tenant's next slice. */
interface OpenSlice {
  readonly entries: Map<string, SliceEntry>;
  bytes: number;
}

/** A slice whose entries are complete; the run, its epoch and the ordinal are given when it is written. */
export interface ClosedSlice {
  readonly tenant: string;
  readonly entries: readonly SliceEntry[];
}

/** Bounds of the slices that are open at once; bytes are those of keys and witnesses. */
export interface SliceLimits {
  readonly entriesPerSlice: number;
  readonly bytesPerSlice: number;
  readonly bytesInAll: number;
  readonly slicesInAll: number;
}

// A slice must fit an item of 400 KB even where its keys do not compress.
const BYTES_PER_SLICE = 256 * 1024;
// Slices that are closed before they are full make small batches, and every batch has its price: so there is room for
// sixty records of each of 10,000 tenants. On the heap it is about twice as much.
const BYTES_IN_ALL = 64 * 1024 * 1024;
/** All are written at once when a dispatcher saves its place, in the time that it keeps back for that. */
const SLICES_IN_ALL = 20_000;
const ENTRY_OVERHEAD_BYTES = 64;
const TENANT_OVERHEAD_BYTES = 256;

export function sliceLimits(batchSize: number): SliceLimits {
  return {
    entriesPerSlice: batchSize,
    bytesPerSlice: BYTES_PER_SLICE,
    bytesInAll: BYTES_IN_ALL,
    slicesInAll: SLICES_IN_ALL,
  };
}

/**
 * The slices being filled, one per tenant, in bounded memory: a full one is closed, and where all together grow too
 * large the fullest are closed before their time.
 */
export class OpenSlices {
  readonly #limits: SliceLimits;
  readonly #open = new Map<string, OpenSlice>();
  #bytes = 0;
  #entries = 0;

  constructor(limits: SliceLimits) {
    this.#limits = limits;
  }

  /** Records that a close of everything would write into slices that are not full. */
  get openEntries(): number {
    return this.#entries;
  }

  /** Adds a record and returns the slices that this closed; `repeated` where the open slice has the key already. */
  add(tenant: string, entry: SliceEntry): readonly ClosedSlice[] | 'repeated' {
    const slice = this.#open.get(tenant) ?? this.#begin(tenant);
    if (slice.entries.has(entry.key)) return 'repeated';
    const bytes = Buffer.byteLength(entry.key) + Buffer.byteLength(entry.witness) + ENTRY_OVERHEAD_BYTES;
    const closed: ClosedSlice[] = [];
    let current = slice;
    if (slice.bytes + bytes > this.#limits.bytesPerSlice && slice.entries.size > 0) {
      closed.push(this.#close(tenant));
      current = this.#begin(tenant);
    }
    current.entries.set(entry.key, entry);
    current.bytes += bytes;
    this.#bytes += bytes;
    this.#entries += 1;
    if (current.entries.size >= this.#limits.entriesPerSlice) closed.push(this.#close(tenant));
    if (this.#isOver(1)) closed.push(...this.#makeRoom());
    return closed;
  }

  /** Closes everything that is open, in order of tenants. */
  closeAll(): readonly ClosedSlice[] {
    return [...this.#open.keys()].sort().map((tenant) => this.#close(tenant));
  }

  #begin(tenant: string): OpenSlice {
    const slice = { entries: new Map<string, SliceEntry>(), bytes: TENANT_OVERHEAD_BYTES };
    this.#open.set(tenant, slice);
    this.#bytes += TENANT_OVERHEAD_BYTES;
    return slice;
  }

  #close(tenant: string): ClosedSlice {
    const slice = this.#open.get(tenant);
    if (slice === undefined) throw new Error('A slice can only be closed once.');
    this.#open.delete(tenant);
    this.#bytes -= slice.bytes;
    this.#entries -= slice.entries.size;
    return { tenant, entries: [...slice.entries.values()] };
  }

  /** Whether more is open than this part of what may be. */
  #isOver(part: number): boolean {
    const { bytesInAll, slicesInAll } = this.#limits;
    return this.#bytes > bytesInAll * part || this.#open.size > slicesInAll * part;
  }

  /** Closes the fullest until a quarter is free: with many small tenants, one search for them must last a while. */
  #makeRoom(): readonly ClosedSlice[] {
    const closed: ClosedSlice[] = [];
    for (const [tenant] of [...this.#open].sort(([, a], [, b]) => b.bytes - a.bytes)) {
      if (!this.#isOver(3 / 4)) break;
      closed.push(this.#close(tenant));
    }
    return closed;
  }
}

/** Gives a closed slice its place in the plan. */
export function sealSlice(closed: ClosedSlice, runId: string, ordinal: number, epoch: number): Slice {
  const { tenant, entries } = closed;
  return {
    runId,
    ordinal,
    epoch,
    tenant,
    entries,
    keysDigest: keysDigest(entries.map((entry) => entry.key)),
    digest: digestOfSlice({ ordinal, tenant, entries }),
  };
}

/** The digest that a slice must have. */
export function digestOfSlice(slice: Pick<Slice, 'ordinal' | 'tenant' | 'entries'>): string {
  return sliceDigest(
    slice.ordinal,
    slice.tenant,
    slice.entries.map((entry) => [entry.key, entry.witness] as const),
  );
}

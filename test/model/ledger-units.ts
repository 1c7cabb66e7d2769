import type { EpochMillis } from '../../lib/core/identity/instant.ts';
import type { SplitUnit, UnitChange, UnitItem } from '../../lib/core/ledger/items.ts';
import { isOpenUnit, UNIT_EDGES, type UnitEdge } from '../../lib/core/ledger/lifecycle.ts';
import {
  type OpenUnit,
  type OpenUnitsWanted,
  type Page,
  PortError,
  type UnitGuard,
  type UnitMoved,
  type UnitRef,
} from '../../lib/core/ports/index.ts';
import { LaggingIndex } from './lagging-index.ts';
import { byKey, invalid, padded, unitKey } from './ledger-keys.ts';
import { keysetPage, type Paging } from './paging.ts';
import { copyOf } from './plain.ts';

/** As many items as the batch and its children may be together in one transaction of ours. */
const CHILDREN_LIMIT = 25;

/** A move of a unit that took effect; `before` is absent where the move made the item. */
export interface UnitMove {
  readonly edge: UnitEdge;
  readonly before: UnitItem | undefined;
  readonly after: UnitItem;
}

/** The units of all runs, and the sparse index of those that need someone or something. */
export class UnitItems {
  /** Called after every move that took effect; a split calls it for the batch. */
  onMoved: (move: UnitMove) => void = () => {};
  /** `torn` is the mutant of a test: the children are put outside the transaction, and may be lost with its answer. */
  readonly #splits: 'one-transaction' | 'torn';
  readonly #items = new Map<string, UnitItem>();
  readonly #open: LaggingIndex<UnitItem>;

  constructor(indexLag: number, splits: 'one-transaction' | 'torn') {
    this.#open = new LaggingIndex(indexLag);
    this.#splits = splits;
  }

  /** By their sort keys. */
  get items(): ReadonlyMap<string, UnitItem> {
    return this.#items;
  }

  get isBehind(): boolean {
    return this.#open.isBehind;
  }

  settle(): void {
    this.#open.settle();
  }

  read(ref: UnitRef): UnitItem | undefined {
    return copyOf(this.#items.get(unitKey(ref)));
  }

  move(ref: UnitRef, edge: UnitEdge, guard: UnitGuard, change: UnitChange): UnitMoved {
    const stored = this.#items.get(unitKey(ref));
    const { from, to, orAbsent }: { from: readonly string[]; to: UnitItem['state']; orAbsent: boolean } =
      UNIT_EDGES[edge];
    const unit = stored ?? (orAbsent ? newUnit(ref, guard) : undefined);
    const legal =
      unit !== undefined &&
      from.includes(unit.state) &&
      unit.generation === guard.generation &&
      (guard.attempts === undefined || unit.attempts === guard.attempts);
    if (!legal) return { kind: 'refused', unit: copyOf(stored) };
    const moved = this.#store({ ...unit, ...change, state: to });
    this.onMoved({ edge, before: stored, after: moved });
    return { kind: 'moved', unit: moved };
  }

  split(
    ref: UnitRef,
    guard: UnitGuard,
    change: UnitChange & { readonly split: readonly number[] },
    children: readonly SplitUnit[],
  ): UnitMoved {
    if (children.length < 1 || children.length > CHILDREN_LIMIT) throw invalid('splitUnit');
    const items = children.map((child) => ({ ...child, runId: ref.runId, records: 1, generation: 0 }));
    // One condition that fails cancels the whole transaction.
    if (items.some((item) => this.#items.has(unitKey(item)))) return { kind: 'refused', unit: this.read(ref) };
    const moved = this.move(ref, 'commit', guard, change);
    if (moved.kind === 'refused') return moved;
    if (this.#splits === 'torn') throw new PortError('splitUnit', { class: 'transient', error: 'Torn' });
    for (const item of items) this.#store(item);
    return moved;
  }

  openUnits(wanted: OpenUnitsWanted, cursor: string | undefined, paging: Paging): Page<OpenUnit> {
    const units = this.#open
      .sorted()
      .map(([key, unit]) => ({ key: `${padded(dueAt(unit))} ${key}`, unit }))
      .filter(({ unit }) => unit.state === wanted.state && (wanted.state !== 'planned' || dueAt(unit) <= wanted.dueAt));
    const page = keysetPage(units.sort(byKey), (unit) => unit.key, cursor, paging);
    return { items: page.items.map(({ unit }) => projected(unit)), next: page.next };
  }

  #store(item: UnitItem): UnitItem {
    const stored = copyOf(item);
    this.#items.set(unitKey(item), stored);
    this.#open.set(unitKey(item), isOpenUnit(item.state) ? stored : undefined);
    return stored;
  }
}

/** What an absent unit counts as: planned, never started, of the first generation. */
function newUnit(ref: UnitRef, guard: UnitGuard): UnitItem | undefined {
  if (guard.make === undefined) return undefined;
  const { runId, unit } = ref;
  return { runId, unit, ...guard.make, state: 'planned', attempts: 0, generation: 0, since: 0 };
}

function dueAt(unit: UnitItem): EpochMillis {
  return unit.state === 'planned' ? (unit.notBefore ?? unit.since) : unit.since;
}

/** The index holds no more of a unit than this. */
function projected(item: UnitItem): OpenUnit {
  const { runId, unit, generation, tenant, records, attempts, since } = item;
  const { reason, errorClass, failureClass, copiedAt, copiedGeneration } = item;
  const labels = { reason, errorClass, failureClass, copiedAt, copiedGeneration };
  return copyOf({ runId, unit, generation, tenant, records, attempts, since, ...labels }) as OpenUnit;
}

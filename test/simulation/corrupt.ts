import type { RunItem, Slice, UnitItem } from '../../lib/core/ledger/items.ts';
import type { LedgerContents, RecordWrite } from '../model/index.ts';
import type { Evidence, Happening } from './checker/index.ts';

/** Makes one thing in a sound world untrue; undefined where the world has no such thing. */
export type Corruption = (evidence: Evidence) => Evidence | undefined;

/** Replaces the first item that fits. */
export function altered<T>(
  items: readonly T[],
  fits: (item: T) => unknown,
  change: (item: T) => T | undefined,
): readonly T[] | undefined {
  const place = items.findIndex((item) => fits(item));
  const item = items[place];
  if (item === undefined) return undefined;
  const changed = change(item);
  return changed === undefined ? items.toSpliced(place, 1) : items.with(place, changed);
}

export function inLedger<K extends keyof LedgerContents>(
  name: K,
  fits: (item: LedgerContents[K][number]) => unknown,
  change: (item: LedgerContents[K][number]) => LedgerContents[K][number] | undefined,
): Corruption {
  return (evidence) => {
    const items = altered<LedgerContents[K][number]>(evidence.ledger[name], fits, change);
    return items && { ...evidence, ledger: { ...evidence.ledger, [name]: items } };
  };
}

export const run = (fits: (run: RunItem) => unknown, change: (run: RunItem) => RunItem) =>
  inLedger('runs', fits, change);
export const unit = (fits: (unit: UnitItem) => unknown, change: (unit: UnitItem) => UnitItem | undefined) =>
  inLedger('units', fits, change);
export const slice =
  (change: (slice: Slice) => Slice | undefined): Corruption =>
  (evidence) => {
    const complete = new Set(
      evidence.ledger.runs.flatMap(({ runId, status }) => (status === 'complete' ? [runId] : [])),
    );
    return inLedger('slices', ({ runId, ordinal }) => complete.has(runId) && ordinal === 0, change)(evidence);
  };

export function write(fits: (write: RecordWrite) => unknown, change: (write: RecordWrite) => RecordWrite): Corruption {
  return (evidence) => {
    const writes = altered(evidence.writes, fits, change);
    return writes && { ...evidence, writes };
  };
}

export type Of<K extends Happening['kind']> = Happening & { readonly kind: K };

export function happening<K extends Happening['kind']>(
  kind: K,
  fits: (happening: Of<K>) => unknown,
  change: (happening: Of<K>) => Happening | undefined,
): Corruption {
  return (evidence) => {
    const isIt = (one: Happening): one is Of<K> => one.kind === kind;
    const happenings = altered(
      evidence.happenings,
      (one) => isIt(one) && fits(one),
      (one) => (isIt(one) ? change(one) : one),
    );
    return happenings && { ...evidence, happenings };
  };
}

/** Adds something that happened right after the first that fits. */
export function andThen(
  fits: (happening: Happening) => unknown,
  next: (happening: Happening) => Happening,
): Corruption {
  return (evidence) => {
    const place = evidence.happenings.findIndex((one) => fits(one));
    const one = evidence.happenings[place];
    return one && { ...evidence, happenings: evidence.happenings.toSpliced(place + 1, 0, next(one)) };
  };
}

/** Takes every audit entry of an act away that could explain the first move of this kind. */
export function untold(
  act: string,
  isMove: (happening: Happening) => boolean,
  explains: (move: Happening, audit: Of<'audit'>) => boolean,
): Corruption {
  return (evidence) => {
    const move = evidence.happenings.find(isMove);
    if (move === undefined) return undefined;
    const tells = (one: Happening) => one.kind === 'audit' && one.entry.act === act && explains(move, one);
    return { ...evidence, happenings: evidence.happenings.filter((one) => !tells(one)) };
  };
}

/** Changes a unit of a run that is complete. */
export function ofComplete(
  fits: (unit: UnitItem) => unknown,
  change: (unit: UnitItem) => UnitItem | undefined,
): Corruption {
  return (evidence) => {
    const runs = new Set(evidence.ledger.runs.flatMap(({ runId, status }) => (status === 'complete' ? [runId] : [])));
    return unit((one) => runs.has(one.runId) && fits(one), change)(evidence);
  };
}

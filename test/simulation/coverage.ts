import type { Mischief } from '../model/index.ts';

/** What a history may meet, besides what the models do of themselves. */
export type Kind =
  | Mischief
  | 'visibility ended while work went on'
  | 'call throttled'
  | 'transaction conflict'
  | 'answer lost after a commit'
  | 'answer of a read lost'
  | 'clock skew'
  | 'crash before a call'
  | 'crash after a call'
  | 'function timed out'
  | 'invocation short of time'
  | 'scheduler fired twice'
  | 'scheduler missed a time'
  | 'deployed: new policy version'
  | 'deployed: other tuning'
  | 'deployed while a run was in flight'
  | 'refused: version with another meaning'
  | 'key rotated'
  | 'key not heard of yet'
  | 'idempotency table emptied'
  | 'work queue purged'
  | 'dead-letter queue purged'
  | `person: ${PersonKind}`
  | `record: ${RecordKind}`
  | 'run of action delete'
  | 'run that only reports'
  | 'run refused'
  | 'run cancelled'
  | 'run closed around a quarantine'
  | 'record split from its batch'
  | 'unit quarantined'
  | 'message that cannot be read';

export type RecordKind =
  | 'reactivated'
  | 'held'
  | 'released'
  | 'touched'
  | 'removed'
  | 're-created'
  | 'closed'
  | 'restored'
  | 'expired by hand'
  | 'poisoned'
  | 'healed';

export type PersonKind =
  | 'redrive by filter'
  | 'redrive at a rate'
  | 'redrive all'
  | 'redrive with a limit'
  | 'dry run'
  | 'redrive held to its selection'
  | 'console move'
  | 'abandon'
  | 'pause'
  | 'resume'
  | 'cancel';

/** What ten thousand histories must have met, each at least `FLOOR` times. */
export const DEMANDED: readonly Kind[] = [
  'message delivered again',
  'message overtaken by a later one',
  'visibility ended while work went on',
  'receives spent',
  'target call broke off half-way',
  'target entry failed',
  'target entry failed but was written',
  'send entry failed',
  'send entry failed but was sent',
  'send entry in neither list',
  'deletion not confirmed',
  'queue depth read as zero',
  'call throttled',
  'transaction conflict',
  'answer lost after a commit',
  'answer of a read lost',
  'stale index read',
  'stale discovery read',
  'empty filtered page',
  'clock skew',
  'crash before a call',
  'crash after a call',
  'function timed out',
  'invocation short of time',
  'scheduler fired twice',
  'scheduler missed a time',
  'message outlived the work queue',
  'message outlived the dead-letter queue',
  'deployed: new policy version',
  'deployed: other tuning',
  'deployed while a run was in flight',
  'refused: version with another meaning',
  'key rotated',
  'key not heard of yet',
  'idempotency record forgotten',
  'idempotency table emptied',
  'two bodies at once',
  'record: reactivated',
  'record: held',
  'record: released',
  'record: touched',
  'record: removed',
  'record: re-created',
  'record: closed',
  'record: restored',
  'record: expired by hand',
  'record: poisoned',
  'record: healed',
  'person: redrive by filter',
  'person: redrive at a rate',
  'person: redrive all',
  'person: redrive with a limit',
  'person: dry run',
  'person: redrive held to its selection',
  'person: console move',
  'person: abandon',
  'person: pause',
  'person: resume',
  'person: cancel',
  'work queue purged',
  'dead-letter queue purged',
  'run of action delete',
  'run that only reports',
  'run refused',
  'run cancelled',
  'run closed around a quarantine',
  'record split from its batch',
  'unit quarantined',
];

export const DEMANDED_SEEDS = 10_000;
export const FLOOR = 500;

/** Counts of what really happened, by kind. */
export type Coverage = ReadonlyMap<Kind, number>;

export class Counter {
  readonly counts = new Map<Kind, number>();

  add(kind: Kind, times = 1): void {
    if (times > 0) this.counts.set(kind, (this.counts.get(kind) ?? 0) + times);
  }

  addAll(counts: Iterable<readonly [Kind, number]>): void {
    for (const [kind, times] of counts) this.add(kind, times);
  }
}

/** Kinds that were met too seldom for so many seeds. */
export function missing(coverage: Coverage, seeds: number): readonly Kind[] {
  const floor = (FLOOR * seeds) / DEMANDED_SEEDS;
  return DEMANDED.filter((kind) => (coverage.get(kind) ?? 0) < floor);
}

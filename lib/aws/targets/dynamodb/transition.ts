import type { RunKind } from '../../../core/identity/keys.ts';
import type { Settings } from '../../../core/policy/settings.ts';
import { refusal } from '../../errors.ts';

/** What these targets do to a record. */
export type TransitionKind = Exclude<RunKind, 'undo'>;

/** Throws a permanent PortError for a kind that these targets and sources do not do. */
export function transitionOf(kind: RunKind): TransitionKind {
  if (kind === 'undo') throw refusal(`carry out a run of kind ${kind}`, 'NotSupported');
  return kind;
}

/** Where a run finds its records: a deletion goes by the state and the time that an earlier expiry wrote. */
export interface Sought {
  readonly state: string;
  readonly timestampAttribute: string;
}

export function soughtBy(kind: TransitionKind, settings: Settings): Sought {
  return kind === 'delete'
    ? { state: settings.expiredState, timestampAttribute: settings.expiredAtAttribute }
    : { state: settings.eligibleState, timestampAttribute: settings.timestampAttribute };
}

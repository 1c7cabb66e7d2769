import { asciiJson } from '../../core/identity/encode.ts';
import type { EpochMillis } from '../../core/identity/instant.ts';
import { MAX_TENANT_BYTES } from '../../core/publish/reference.ts';
import type { Item } from '../records.ts';
import { ATTRIBUTES, STATE } from './policy.ts';

/**
 * What an enforcing run must make of a record. The first four are planned, and their outcome; the others never are.
 * `not_due`: at the cutoff, newer, or in another state.
 */
export type Verdict = 'expired' | 'state_changed' | 'held' | 'absent' | 'held_at_plan' | 'unreadable' | 'not_due';

/** One record: as it was loaded, as it stood when its batch came, and what the run must make of it. */
export interface Case {
  readonly loaded: Item;
  /** Undefined where somebody removed it after the plan. */
  readonly left: Item | undefined;
  readonly verdict: Verdict;
}

const EARLIEST = Date.parse('1980-01-01T00:00:00Z');
const LATEST = Date.parse('2100-01-01T00:00:00Z');

/** Judges a record by itself, so that a run can be checked by what it had before it and not by what it says. */
export function judge(item: Item, cutoff: EpochMillis): Verdict {
  if (item[ATTRIBUTES.state]?.S !== STATE.eligible) return 'not_due';
  const at = instantOf(item[ATTRIBUTES.timestamp]?.S ?? '');
  if (at === undefined) return 'unreadable';
  if (at >= cutoff) return 'not_due';
  const tenant = item[ATTRIBUTES.tenant]?.S ?? '';
  if (tenant === '' || asciiJson(tenant).length - 2 > MAX_TENANT_BYTES) return 'unreadable';
  return (item[ATTRIBUTES.hold]?.S ?? '') === '' ? 'expired' : 'held_at_plan';
}

export function caseOf(item: Item, cutoff: EpochMillis): Case {
  return { loaded: item, left: item, verdict: judge(item, cutoff) };
}

/** A UTC instant in one of its two spellings, with milliseconds or without. */
function instantOf(text: string): EpochMillis | undefined {
  const millis = Date.parse(text);
  if (Number.isNaN(millis) || millis < EARLIEST || millis >= LATEST) return undefined;
  const spelled = new Date(millis).toISOString();
  return text === spelled || text === spelled.replace('.000Z', 'Z') ? millis : undefined;
}

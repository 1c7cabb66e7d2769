import { NO_COST } from '../cost/cost.ts';
import { digestOf } from '../identity/encode.ts';
import { DAY_MILLIS, type EpochMillis } from '../identity/instant.ts';
import { runIdOf } from '../identity/keys.ts';
import { type AuditHead, NO_CHECKPOINT, type RunItem } from '../ledger/items.ts';
import { policyDigest } from '../policy/digest.ts';
import type { Settings } from '../policy/settings.ts';
import type { DispatchRequest } from './request.ts';

/** Head of an audit trail without entries. */
export const NO_AUDIT: AuditHead = { count: 0, hash: digestOf(['audit']) };

/**
 * The cutoff of a scheduled time: computed from the schedule and never from the time of day. For a deletion it is on
 * the time of expiry.
 */
export function cutoffOf(settings: Settings, scheduledTime: EpochMillis): EpochMillis {
  return scheduledTime - (settings.action === 'delete' ? settings.graceDays : settings.retentionDays) * DAY_MILLIS;
}

/** What follows from the settings of a run; taken anew where a refused run is tried again with mended settings. */
export function policyOf(
  settings: Settings,
  scheduledTime: EpochMillis,
): Pick<RunItem, 'settings' | 'policyDigest' | 'cutoff' | 'kind'> {
  return {
    settings,
    policyDigest: policyDigest(settings),
    cutoff: cutoffOf(settings, scheduledTime),
    kind: settings.action,
  };
}

/** A run as it is first written: planning, with nobody's lease on it. */
export function newRun(settings: Settings, request: DispatchRequest, now: EpochMillis): RunItem {
  return {
    runId: runIdOf(settings.policyId, settings.policyVersion, request.scheduledTime),
    policyId: settings.policyId,
    policyVersion: settings.policyVersion,
    scheduledTime: request.scheduledTime,
    ...policyOf(settings, request.scheduledTime),
    status: 'planning',
    startedBy: request.startedBy,
    createdAt: now,
    lease: { owner: '', until: 0, epoch: 0 },
    checkpoint: NO_CHECKPOINT,
    cost: NO_COST,
    emptyPasses: 0,
    auditHead: NO_AUDIT,
    refusals: [],
    notes: [],
  };
}

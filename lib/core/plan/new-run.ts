import { digestOf } from '../identity/encode.ts';
import { DAY_MILLIS, type EpochMillis } from '../identity/instant.ts';
import { runIdOf } from '../identity/keys.ts';
import { NO_COST } from '../ledger/cost.ts';
import { type AuditHead, NO_CHECKPOINT, type RunItem } from '../ledger/items.ts';
import { policyDigest } from '../policy/digest.ts';
import type { Settings } from '../policy/settings.ts';
import type { DispatchRequest } from './request.ts';

/** Head of an audit trail without entries. */
export const NO_AUDIT: AuditHead = { count: 0, hash: digestOf(['audit']) };

/** The cutoff of a scheduled time: computed once, from the schedule and never from the time of day. */
export function cutoffOf(settings: Settings, scheduledTime: EpochMillis): EpochMillis {
  return scheduledTime - settings.retentionDays * DAY_MILLIS;
}

/** A run as it is first written: planning, with nobody's lease on it. */
export function newRun(settings: Settings, request: DispatchRequest, now: EpochMillis): RunItem {
  return {
    runId: runIdOf(settings.policyId, settings.policyVersion, request.scheduledTime),
    policyId: settings.policyId,
    policyVersion: settings.policyVersion,
    scheduledTime: request.scheduledTime,
    cutoff: cutoffOf(settings, request.scheduledTime),
    kind: 'expire',
    status: 'planning',
    settings,
    policyDigest: policyDigest(settings),
    startedBy: request.startedBy,
    createdAt: now,
    lease: { owner: '', until: 0, epoch: 0 },
    checkpoint: NO_CHECKPOINT,
    cost: NO_COST,
    emptyPasses: 0,
    auditHead: NO_AUDIT,
  };
}

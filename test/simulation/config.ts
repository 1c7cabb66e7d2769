import { DAY_MILLIS, type EpochMillis, formatInstant } from '../../lib/core/identity/instant.ts';
import type { SettingKey } from '../../lib/core/policy/settings.ts';
import type { DeploymentOptions } from '../helpers/deployment.ts';
import { type Row, testSettings } from '../model/index.ts';
import { type History, Rolls } from './history.ts';

/** Texts of the settings that differ from those of the tests. */
export type Texts = Partial<Record<SettingKey, string>>;

/** How badly processes fare, as chances per call. */
export interface Weather {
  readonly crashes: number;
  readonly fails: number;
}

/** What a history begins with. */
export interface Config {
  readonly texts: Texts;
  readonly deployment: DeploymentOptions;
  readonly weather: Weather;
  /** Scheduled times, the first one at the beginning. */
  readonly schedule: readonly EpochMillis[];
  /** The scheduled time that nobody is told of. */
  readonly missed: EpochMillis | undefined;
}

export const BEGINNING = Date.UTC(2026, 0, 1);
const UNREADABLE = 'yesterday';

export function configOf({ world, config }: History): Config {
  const rolls = new Rolls(config);
  const texts: Texts = {
    batchSize: String(rolls.pick([3, 2, 4, 5, 1])),
    discoverySegments: String(1 + rolls.below(3)),
    maxAttempts: String(rolls.pick([5, 3, 4])),
    unitAgeHours: rolls.pick(['336', '72']),
    redriveGenerations: rolls.pick(['10', '2', '3']),
    mode: rolls.chance(0.08) ? 'report-only' : 'enforce',
    recordsPerRun: rolls.pick(['none', 'none', 'none', '12']),
    recordsPerSecond: rolls.pick(['none', 'none', 'none', '20']),
    windowDays: rolls.pick(['none', 'none', 'none', '500']),
  };
  const gap = rolls.pick([DAY_MILLIS, 7 * DAY_MILLIS]);
  const missed = rolls.chance(0.2) ? BEGINNING + gap : undefined;
  const schedule = [0, 1, ...(missed === undefined ? [] : [2])].map((place) => BEGINNING + place * gap);
  const weather = { crashes: rolls.pick([0, 0.003, 0.01]), fails: rolls.pick([0, 0.008, 0.025]) };
  const unreadable = rolls.chance(0.3);
  const count = 8 + rolls.below(16);
  const ports = drawPorts(rolls);
  const rows = Array.from({ length: count }, (_, number) => drawRow(rolls, number, unreadable));
  const deployment = { ...ports, seed: world, settings: testSettings(texts), rows };
  return { texts, deployment, weather, schedule, missed };
}

function drawPorts(rolls: Rolls): Omit<DeploymentOptions, 'settings' | 'rows'> {
  const paging = () => ({ size: 4 - rolls.below(4), emptyPages: rolls.pick(['none', 'between'] as const) });
  return {
    source: {
      projection: rolls.pick(['all', 'keys-only'] as const),
      paging: paging(),
      // With few others, one unreadable record is too many and the run is refused.
      others: rolls.pick([400, 0]),
    },
    target: {
      recordsPerCall: rolls.pick([2, 1, 3, 4] as const),
      entryFails: rolls.share(0.2),
      entryAnswerLost: rolls.share(0.2),
      callBreaksOff: rolls.share(0.3),
    },
    ledger: { paging: paging(), indexLag: rolls.pick([0, 0, 2, 5]) },
    queue: {
      copies: rolls.pick([1, 2]),
      maxReceiveCount: rolls.pick([25, 4]),
      order: rolls.pick(['fair', 'random'] as const),
      entryFails: rolls.share(0.2),
      entryFailsSent: rolls.share(0.2),
      entryMissing: rolls.share(0.2),
      depthReadsZero: rolls.share(0.5),
      deleteUnconfirmed: rolls.share(0.6),
      releaseFails: rolls.share(0.3),
      receivesNothing: rolls.share(0.3),
    },
    idempotency: { forgets: rolls.share(0.2), letsTwoIn: rolls.share(1), deleteFails: rolls.share(0.5) },
    admission: { fails: rolls.share(0.2), answerLost: rolls.share(0.2) },
  };
}

/** Days since the last activity at the first scheduled time: some become due only by the second. */
const AGES = [400, 366, 1_000, 365, 364.5, 364, 360] as const;

function drawRow(rolls: Rolls, number: number, unreadable: boolean): Row {
  const age = rolls.pick(AGES);
  return {
    id: `account-${number}`,
    tenant: rolls.pick(['big', 'big', 'big', 'small', 'sm\u00e5ll']),
    status: rolls.chance(0.08) ? 'CLOSED' : 'ACTIVE',
    lastActivity: unreadable && rolls.chance(0.1) ? UNREADABLE : formatInstant(BEGINNING - age * DAY_MILLIS),
    hold: rolls.chance(0.1) ? 'legal' : null,
  };
}

export function isUnreadable(row: Row): boolean {
  return row.lastActivity === UNREADABLE;
}

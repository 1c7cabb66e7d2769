import { PRICES } from '../../lib/core/cost/prices.ts';
import type { Suite } from './plan.ts';

/** What a suite uses of what is billed by use. */
interface Use {
  readonly writeUnits: number;
  readonly readUnits: number;
  readonly queueRequests: number;
  readonly invocations: number;
  /** Of 1,024 MB on arm64, rounded up to the whole invocation. */
  readonly gigabyteSeconds: number;
  readonly gigabytesLogged: number;
  readonly secrets: number;
  readonly hours: number;
}

/**
 * Upper bounds, from the sizes in the tests: some 300 cases with tables of a few records; 25,000 records that are loaded,
 * read by three plans and changed once; five pipelines whose mappings poll five times a second.
 */
const USE: Readonly<Record<Suite, Use>> = {
  contract: {
    ...{ writeUnits: 60_000, readUnits: 60_000, queueRequests: 20_000, invocations: 500 },
    ...{ gigabyteSeconds: 500, gigabytesLogged: 0.01, secrets: 8, hours: 1.5 },
  },
  integration: {
    ...{ writeUnits: 150_000, readUnits: 150_000, queueRequests: 100_000, invocations: 5_000 },
    ...{ gigabyteSeconds: 20_000, gigabytesLogged: 0.1, secrets: 5, hours: 1.5 },
  },
};

/** List price of a secret; the rest is in the price file. */
const PER_SECRET_MONTH = 0.4;
const HOURS_PER_MONTH = 730;

export interface CostLine {
  readonly what: string;
  readonly dollars: number;
}

/** What a run costs at list prices of `PRICES.region`, at most as far as the sizes say; free tiers are not taken off. */
export function costOf(suites: readonly Suite[]): readonly CostLine[] {
  const sum = (part: keyof Use) => suites.reduce((total, suite) => total + USE[suite][part], 0);
  const secretHours = suites.reduce((total, suite) => total + USE[suite].secrets * USE[suite].hours, 0);
  const count = (part: keyof Use) => sum(part).toLocaleString('en-US');
  return [
    {
      what: `DynamoDB: ${count('writeUnits')} write and ${count('readUnits')} read units, on demand`,
      dollars: (sum('writeUnits') * PRICES.perMillionWriteUnits + sum('readUnits') * PRICES.perMillionReadUnits) / 1e6,
    },
    {
      what: `SQS: ${count('queueRequests')} requests`,
      dollars: (sum('queueRequests') * PRICES.perMillionQueueRequests) / 1e6,
    },
    {
      what: `Lambda: ${count('invocations')} invocations, ${count('gigabyteSeconds')} GB-seconds`,
      dollars:
        (sum('invocations') * PRICES.perMillionInvocations) / 1e6 + sum('gigabyteSeconds') * PRICES.perGigabyteSecond,
    },
    {
      what: `CloudWatch Logs: ${count('gigabytesLogged')} GB`,
      dollars: sum('gigabytesLogged') * PRICES.perGigabyteLogged,
    },
    {
      what: `Secrets Manager: ${count('secrets')} secrets for the time of the run`,
      dollars: (secretHours / HOURS_PER_MONTH) * PER_SECRET_MONTH,
    },
  ];
}

export function renderCost(lines: readonly CostLine[]): string {
  const total = lines.reduce((sum, { dollars }) => sum + dollars, 0);
  const rows = lines.map(({ what, dollars }) => `  ${dollars.toFixed(2).padStart(6)} $  ${what}`);
  return [
    `It costs at most about ${total.toFixed(2)} $ (list prices ${PRICES.version}; other Regions up to twice as much):`,
    ...rows,
  ].join('\n');
}

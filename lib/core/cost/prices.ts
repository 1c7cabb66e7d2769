/** List prices that quotes and invoices are made with, in US dollars; free tiers and discounts are not in it. */
export interface PriceList {
  /** Region and month of the prices; kept with every quote. */
  readonly version: string;
  readonly region: string;
  /** On-demand, standard table class. */
  readonly perMillionWriteUnits: number;
  readonly perMillionReadUnits: number;
  /** Standard queue; a request carries at most ten messages and 64 KiB. */
  readonly perMillionQueueRequests: number;
  readonly perMillionInvocations: number;
  /** Of a function on arm64. */
  readonly perGigabyteSecond: number;
  /** Taken in by CloudWatch Logs, standard class. */
  readonly perGigabyteLogged: number;
}

/**
 * From AWS's price pages of DynamoDB, SQS, Lambda and CloudWatch. Other Regions cost up to twice as much; the ratios
 * between the prices are much the same everywhere.
 */
export const PRICES: PriceList = {
  version: 'us-east-1/2026-11',
  region: 'us-east-1',
  perMillionWriteUnits: 0.625,
  perMillionReadUnits: 0.125,
  perMillionQueueRequests: 0.4,
  perMillionInvocations: 0.2,
  perGigabyteSecond: 0.000_013_333_4,
  perGigabyteLogged: 0.5,
};

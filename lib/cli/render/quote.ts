import type { Quote } from '../../core/cost/quote.ts';
import type { RunView } from '../../core/views.ts';

const CENTS = 0.01;

function dollars(amount: number): string {
  return amount > 0 && amount < CENTS ? `$${amount.toPrecision(2)}` : `$${amount.toFixed(2)}`;
}

function say({ calls, readUnits, writeUnits, dollars: amount, prices }: Quote): string {
  const units = `${Math.round(readUnits)} read units, ${Math.round(writeUnits)} write units`;
  return `${calls} calls, ${units}, ${dollars(amount)} at ${prices}`;
}

/** One line for what a run was to cost, and one for what it did. */
export function quoteFields({
  quote,
  invoice,
}: Pick<RunView, 'quote' | 'invoice'>): readonly (readonly [string, string])[] {
  return [
    ...(quote === null ? [] : [['Quote', say(quote)] as const]),
    ...(invoice === null ? [] : [['Invoice', say(invoice)] as const]),
  ];
}

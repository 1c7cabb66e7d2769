export { LedgersweepStack } from './ledgersweep-stack.ts';

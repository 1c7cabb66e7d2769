import type { Guard } from './guard.ts';
import { CONSUME_GUARDS } from './list/consume.ts';
import { LEDGER_GUARDS } from './list/ledger.ts';
import { PEOPLE_GUARDS } from './list/people.ts';
import { PLAN_GUARDS } from './list/plan.ts';
import { RECONCILE_GUARDS } from './list/reconcile.ts';
import { TARGET_GUARDS } from './list/target.ts';

export const GUARDS: readonly Guard[] = [
  ...TARGET_GUARDS,
  ...PLAN_GUARDS,
  ...CONSUME_GUARDS,
  ...LEDGER_GUARDS,
  ...PEOPLE_GUARDS,
  ...RECONCILE_GUARDS,
];

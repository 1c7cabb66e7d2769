import { beforeAll, describe } from 'vitest';
import type { Ledger } from '../../lib/core/ports/index.ts';
import { auditCases } from './ledger-audit-cases.ts';
import { controlCases } from './ledger-control-cases.ts';
import { openCases } from './ledger-open-cases.ts';
import { planCases } from './ledger-plan-cases.ts';
import { runCases } from './ledger-run-cases.ts';
import { selectionCases } from './ledger-selection-cases.ts';
import { splitCases } from './ledger-split-cases.ts';
import { unitCases } from './ledger-unit-cases.ts';

/** What every ledger must do. Tests use runs of their own, so that one ledger may serve them all. */
export function ledgerContract(name: string, makeLedger: () => Promise<Ledger>): void {
  describe(`ledger contract: ${name}`, () => {
    let ledger: Ledger;
    beforeAll(async () => {
      ledger = await makeLedger();
    });
    describe('runs', () => runCases(() => ledger));
    describe('plan', () => planCases(() => ledger));
    describe('units', () => unitCases(() => ledger));
    describe('split', () => splitCases(() => ledger));
    describe('open index', () => openCases(() => ledger));
    describe('control', () => controlCases(() => ledger));
    describe('selections', () => selectionCases(() => ledger));
    describe('audit', () => auditCases(() => ledger));
  });
}

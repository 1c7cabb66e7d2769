import type { AuditEntry } from '../../core/ledger/items.ts';
import type { AuditScope } from '../../core/ports/ledger.ts';
import { encodeAudit } from './audit-item.ts';
import { absent, all, type Clause, either, equals } from './expression.ts';
import { number, text } from './fields.ts';
import type { Expiry } from './retention.ts';
import { AUDIT } from './run-item.ts';
import { auditSort, itemKey, LEDGER_KEY, SK, scopePartition } from './schema.ts';
import type { LedgerTable } from './table.ts';

/** Entry and head in one transaction; our own entry, found there after a lost answer, counts as appended. */
export async function appendAudit(
  table: LedgerTable,
  expiry: Expiry,
  scope: AuditScope,
  entry: AuditEntry,
  headCount: number,
): Promise<'appended' | 'moved-on' | 'occupied'> {
  const partition = scopePartition(scope);
  const item = { ...encodeAudit(scope, entry), ...(scope.kind === 'run' ? expiry() : {}) };
  const met = await table.transact('appendAudit', [
    { put: { item, condition: absent(LEDGER_KEY.partitionKey) } },
    {
      update: {
        key: itemKey(partition, scope.kind === 'run' ? SK.run : SK.control),
        update: { set: { [AUDIT.count]: number(entry.number + 1), [AUDIT.hash]: text(entry.hash) } },
        condition: headStandsAt(scope, headCount),
      },
    },
  ]);
  if (met === undefined) return 'appended';
  if (met[0] === 'passed') return 'moved-on';
  // Our own entry would have moved the head with it.
  if (met[1] === 'passed') return 'occupied';
  const standing =
    typeof met[0] === 'object' ? met[0] : await table.get('appendAudit', itemKey(partition, auditSort(entry.number)));
  return standing?.hash?.S === entry.hash ? 'appended' : 'moved-on';
}

/**
 * A run's head is made with the run; a policy's with its first entry. A head that was removed counts as one of nothing:
 * acts go on, and the trail no longer verifies.
 */
function headStandsAt(scope: AuditScope, count: number): Clause {
  const stands = equals(AUDIT.count, number(count));
  if (count > 0) return stands;
  if (scope.kind === 'policy') return either(absent(AUDIT.count), stands);
  const { runId } = scope;
  return either(all(equals('runId', text(runId)), absent(AUDIT.count)), stands);
}

import { ordinalOf, positionOf } from '../../lib/core/identity/keys.ts';
import { type AuditScope, PortError, type UnitRef } from '../../lib/core/ports/index.ts';

/** A whole number as text that sorts as the number does. */
export function padded(number: number): string {
  return String(number).padStart(16, '0');
}

export function byKey(a: { readonly key: string }, b: { readonly key: string }): number {
  return a.key < b.key ? -1 : 1;
}

/** A batch sorts before the records split from it. */
export function unitKey({ runId, unit }: UnitRef): string {
  const position = positionOf(unit);
  return `${runId} ${padded(ordinalOf(unit))}${position === undefined ? '' : `.${padded(position)}`}`;
}

export function scopeKey(scope: AuditScope): string {
  return scope.kind === 'run' ? `run ${scope.runId} ` : `policy ${scope.policyId} `;
}

/** What the store refuses whatever it holds. */
export function invalid(operation: string): PortError {
  return new PortError(operation, { class: 'permanent', error: 'ValidationException' });
}

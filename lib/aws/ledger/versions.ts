import { controlKey } from './control.ts';
import { absent, either, equals } from './expression.ts';
import { text } from './fields.ts';
import type { LedgerTable } from './table.ts';

/** One attribute per version: a map could not be written into before somebody had made it. */
function attributeOf(policyVersion: string): string {
  return `version:${policyVersion}`;
}

export async function versionDigest(
  table: LedgerTable,
  policyId: string,
  policyVersion: string,
): Promise<string | undefined> {
  const control = await table.get('versionDigest', controlKey(policyId));
  return control?.[attributeOf(policyVersion)]?.S;
}

/** Claiming again what a version means already is claiming it (pitfall P55). */
export async function claimVersion(
  table: LedgerTable,
  policyId: string,
  policyVersion: string,
  digest: string,
): Promise<'claimed' | 'other'> {
  const attribute = attributeOf(policyVersion);
  const written = await table.update('claimVersion', {
    key: controlKey(policyId),
    update: { set: { [attribute]: text(digest) } },
    condition: either(absent(attribute), equals(attribute, text(digest))),
  });
  return written.kind === 'written' ? 'claimed' : 'other';
}

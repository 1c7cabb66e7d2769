import { asciiJson, digestOf, lengthPrefixed } from '../identity/encode.ts';
import { type EpochMillis, formatInstant, parseInstant } from '../identity/instant.ts';
import type { UnitId } from '../identity/keys.ts';
import type { RunItem, UnitItem } from '../ledger/items.ts';
import type { Signer, Verified } from '../ports/index.ts';

export const SCHEMA_VERSION = 1;

/** Longest tenant a message can carry, as ASCII JSON: with it a body stays under `MAX_BODY_BYTES`. */
export const MAX_TENANT_BYTES = 128;

export const MAX_BODY_BYTES = 512;

/** What a message says: which unit to work on. It names records only through the ledger. */
export interface BatchReference {
  readonly runId: string;
  readonly tenant: string;
  readonly cutoff: EpochMillis;
  readonly policyVersion: string;
  readonly unit: UnitId;
  /** Of redrive: 0 for the first publish. */
  readonly generation: number;
}

/** How a run refers to one of its units at the generation that it has now. */
export function referenceTo(run: RunItem, unit: Pick<UnitItem, 'unit' | 'tenant' | 'generation'>): BatchReference {
  return {
    runId: run.runId,
    tenant: unit.tenant,
    cutoff: run.cutoff,
    policyVersion: run.policyVersion,
    unit: unit.unit,
    generation: unit.generation,
  };
}

export type ParsedBody =
  | { readonly kind: 'reference'; readonly reference: BatchReference; readonly keyId: string; readonly mac: string }
  | { readonly kind: 'bad'; readonly reason: 'malformed' | 'unknown_schema' };

const FIELDS = ['cutoff', 'generation', 'keyId', 'mac', 'policyVersion', 'runId', 'schemaVersion', 'tenant', 'unit'];
const UNIT = /^(0|[1-9][0-9]{0,7})(\.(0|[1-9][0-9]{0,3}))?$/;
const MALFORMED: ParsedBody = { kind: 'bad', reason: 'malformed' };

/** The one encoding that is signed. */
function canonical(reference: BatchReference): Buffer {
  const { runId, tenant, cutoff, policyVersion, unit, generation } = reference;
  return lengthPrefixed([
    'batch-reference',
    String(SCHEMA_VERSION),
    runId,
    tenant,
    formatInstant(cutoff),
    policyVersion,
    unit,
    String(generation),
  ]);
}

/** The message body: signed ASCII JSON of at most 512 bytes. */
export async function encodeReference(reference: BatchReference, signer: Signer): Promise<string> {
  const { keyId, mac } = await signer.sign(canonical(reference));
  const { runId, tenant, cutoff, policyVersion, unit, generation } = reference;
  return asciiJson({
    schemaVersion: SCHEMA_VERSION,
    runId,
    tenant,
    cutoff: formatInstant(cutoff),
    policyVersion,
    unit,
    generation,
    keyId,
    mac,
  });
}

function parseJson(body: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Reads a body strictly: one spelling per value, no field missing, none unknown (pitfalls P45, P49). */
export function parseReference(body: string): ParsedBody {
  const json = parseJson(body);
  if (json === undefined) return MALFORMED;
  if (typeof json.schemaVersion !== 'number') return MALFORMED;
  if (json.schemaVersion !== SCHEMA_VERSION) return { kind: 'bad', reason: 'unknown_schema' };
  if (Object.keys(json).sort().join() !== FIELDS.join()) return MALFORMED;
  const { runId, tenant, cutoff, policyVersion, unit, generation, keyId, mac } = json;
  if (typeof runId !== 'string' || typeof tenant !== 'string' || typeof policyVersion !== 'string') return MALFORMED;
  if (typeof cutoff !== 'string' || typeof keyId !== 'string' || typeof mac !== 'string') return MALFORMED;
  if (typeof unit !== 'string' || !UNIT.test(unit)) return MALFORMED;
  if (!Number.isSafeInteger(generation) || (generation as number) < 0) return MALFORMED;
  const cutoffMillis = parseInstant(cutoff);
  if (cutoffMillis === undefined || formatInstant(cutoffMillis) !== cutoff) return MALFORMED;
  return {
    kind: 'reference',
    reference: { runId, tenant, cutoff: cutoffMillis, policyVersion, unit, generation: generation as number },
    keyId,
    mac,
  };
}

export function verifyReference(parsed: Extract<ParsedBody, { kind: 'reference' }>, signer: Signer): Promise<Verified> {
  return signer.verify(canonical(parsed.reference), parsed.keyId, parsed.mac);
}

/** `MessageGroupId` for a tenant: readable where SQS allows its characters, else a digest. */
export function groupOf(tenant: string): string {
  return /^[A-Za-z0-9._-]{1,100}$/.test(tenant) ? `t.${tenant}` : `h.${digestOf(['tenant', tenant], 128)}`;
}

import { createHash } from 'node:crypto';

/**
 * What docs/architecture.md says of keys and digests, written a second time: if the core computes something else, one of
 * the two is wrong.
 */

/** SHA-256 over parts, each behind its length in UTF-8 bytes (32 bits, big-endian); base64url of the first bits. */
export function digest(parts: readonly string[], bits = 256): string {
  const hash = createHash('sha256');
  for (const part of parts) {
    const bytes = Buffer.from(part, 'utf8');
    const length = Buffer.allocUnsafe(4);
    length.writeUInt32BE(bytes.length);
    hash.update(length).update(bytes);
  }
  return hash
    .digest()
    .subarray(0, bits / 8)
    .toString('base64url');
}

export function instant(millis: number): string {
  return new Date(millis).toISOString();
}

export interface Operation {
  readonly policyId: string;
  readonly policyVersion: string;
  readonly cutoff: number;
  readonly kind: string;
}

export function operationKey({ policyId, policyVersion, cutoff, kind }: Operation, recordKey: string): string {
  return digest(['operation', policyId, policyVersion, recordKey, String(cutoff), kind], 128);
}

export function digestOfKeys(keys: readonly string[]): string {
  return digest(['keys', ...[...keys].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))]);
}

export interface Listed {
  readonly key: string;
  readonly witness: string;
}

export function digestOfSlice(ordinal: number, tenant: string, entries: readonly Listed[]): string {
  return digest(['slice', String(ordinal), tenant, ...entries.flatMap(({ key, witness }) => [key, witness])]);
}

export interface Chain {
  readonly batches: number;
  readonly records: number;
  readonly digest: string;
}

export const NO_CHAIN: Chain = { batches: 0, records: 0, digest: digest(['chain']) };

export function link(chain: Chain, records: number, keysDigest: string): Chain {
  return {
    batches: chain.batches + 1,
    records: chain.records + records,
    digest: digest(['chain', chain.digest, String(chain.batches), String(records), keysDigest]),
  };
}

export function sameChain(a: Chain, b: Chain): boolean {
  return a.batches === b.batches && a.records === b.records && a.digest === b.digest;
}

/** What one entry of an audit trail says, without its hash. */
export interface Said {
  readonly number: number;
  readonly act: string;
  readonly actor: string;
  readonly reason: string;
  readonly requestId: string;
  readonly units: readonly string[];
  readonly selection?: string;
  readonly at: number;
  readonly previousHash: string;
}

export const NO_TRAIL = { count: 0, hash: digest(['audit']) };

export function auditHash(said: Said): string {
  const { number, act, actor, reason, requestId, at, previousHash, selection, units } = said;
  const head = ['audit', String(number), act, actor, reason, requestId, instant(at), previousHash, selection ?? ''];
  return digest([...head, ...units]);
}

export function selectionDigest(
  act: string,
  units: readonly { readonly runId: string; readonly unit: string; readonly generation: number }[],
): string {
  return digest(['selection', act, ...units.flatMap((one) => [one.runId, one.unit, String(one.generation)])]);
}

/** The batch of a unit, and its place where it is a record of its own. */
export function placeOf(unit: string): { readonly ordinal: number; readonly position: number | undefined } {
  const [ordinal, position] = unit.split('.');
  return { ordinal: Number(ordinal), position: position === undefined ? undefined : Number(position) };
}

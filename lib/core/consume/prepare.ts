import { type Failure, failureOf, type Ledger, type LoadedUnit, type Signer } from '../ports/index.ts';
import { type BatchReference, type ParsedBody, parseReference, verifyReference } from '../publish/reference.ts';
import type { Delivery } from './delivery.ts';

/** What is known of a delivery before any work: its reference checked and its ledger items read. */
export type Prepared =
  | { readonly kind: 'bad'; readonly reason: string }
  | { readonly kind: 'unavailable'; readonly why: 'unknown_key' | 'ledger_unavailable'; readonly failure: Failure }
  | { readonly kind: 'loaded'; readonly reference: BatchReference; readonly loaded: LoadedUnit };

type Checked =
  | Extract<Prepared, { kind: 'bad' | 'unavailable' }>
  | { readonly kind: 'valid'; readonly reference: BatchReference };

async function verify(parsed: Extract<ParsedBody, { kind: 'reference' }>, signer: Signer): Promise<Checked> {
  switch (await verifyReference(parsed, signer)) {
    case 'valid':
      return { kind: 'valid', reference: parsed.reference };
    case 'forged':
      return { kind: 'bad', reason: 'bad_signature' };
    case 'unknown-key':
      // A key may be newer than this host's copy of the ring: try again, do not condemn.
      return { kind: 'unavailable', why: 'unknown_key', failure: { class: 'transient', error: 'UnknownKey' } };
  }
}

async function check(body: string, signer: Signer): Promise<Checked> {
  const parsed = parseReference(body);
  if (parsed.kind === 'bad') return parsed;
  try {
    return await verify(parsed, signer);
  } catch (error) {
    return { kind: 'unavailable', why: 'unknown_key', failure: failureOf(error) };
  }
}

/**
 * Checks the deliveries of one event and reads everything they need in one call. A failure belongs to its delivery
 * and never touches the neighbours.
 */
export async function prepareEvent(
  ports: { readonly ledger: Ledger; readonly signer: Signer },
  deliveries: readonly Delivery[],
): Promise<ReadonlyMap<string, Prepared>> {
  const prepared = new Map<string, Prepared>();
  const valid: { readonly messageId: string; readonly reference: BatchReference }[] = [];
  for (const { messageId, body } of deliveries) {
    const checked = await check(body, ports.signer);
    if (checked.kind === 'valid') valid.push({ messageId, reference: checked.reference });
    else prepared.set(messageId, checked);
  }
  if (valid.length === 0) return prepared;
  try {
    const loaded = await ports.ledger.load(valid.map(({ reference }) => reference));
    for (const [index, { messageId, reference }] of valid.entries()) {
      const unit = loaded[index] ?? { run: undefined, slice: undefined, unit: undefined };
      prepared.set(messageId, { kind: 'loaded', reference, loaded: unit });
    }
  } catch (error) {
    const failure = failureOf(error);
    for (const { messageId } of valid) {
      prepared.set(messageId, { kind: 'unavailable', why: 'ledger_unavailable', failure });
    }
  }
  return prepared;
}

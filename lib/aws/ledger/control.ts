import type { EpochMillis } from '../../core/identity/instant.ts';
import { type Control, NO_CONTROL, PAUSES_KEPT, type PastPause, type Pause } from '../../core/ledger/items.ts';
import type { RunStatus } from '../../core/ledger/lifecycle.ts';
import type { ControlMoved, Stops } from '../../core/ports/ledger.ts';
import type { Attributes } from '../item-size.ts';
import { type BatchGetPorts, batchGet } from './batch-get.ts';
import { absent, equals } from './expression.ts';
import { decodeFields, encodeFields, type Field, text } from './fields.ts';
import { AUDIT, runKey } from './run-item.ts';
import { itemKey, LEDGER_KEY, policyPartition, SK } from './schema.ts';
import type { LedgerTable, Written } from './table.ts';

const CONTROL_FIELDS = {
  pause: 'json',
  pauses: 'json',
  intake: 'text',
} as const satisfies Record<Exclude<keyof Control, 'auditHead'>, Field>;

const [PAUSE, INTAKE] = ['pause', 'intake'] as const satisfies readonly (keyof typeof CONTROL_FIELDS)[];

/** What is read of the two items that may stop a unit: both are larger than that. */
const STOPS = [...Object.values(LEDGER_KEY), ...Object.keys(CONTROL_FIELDS), ...Object.values(AUDIT), 'status'];

/** The item that also keeps what the policy's versions mean, and the head of its audit trail. */
export function controlKey(policyId: string): Attributes {
  return itemKey(policyPartition(policyId), SK.control);
}

export function decodeControl(item: Attributes | undefined): Control {
  if (item === undefined) return NO_CONTROL;
  const count = item[AUDIT.count]?.N;
  return {
    ...NO_CONTROL,
    ...decodeFields<Partial<Control>>(CONTROL_FIELDS, item),
    auditHead: count === undefined ? undefined : { count: Number(count), hash: item[AUDIT.hash]?.S ?? '' },
  };
}

export async function readControl(table: LedgerTable, policyId: string): Promise<Control> {
  return decodeControl(await table.get('readControl', controlKey(policyId)));
}

export async function readStops(
  ports: BatchGetPorts,
  tableName: string,
  policyId: string,
  runId: string,
): Promise<Stops> {
  const items = await batchGet(ports, 'readStops', tableName, [controlKey(policyId), runKey(runId)], STOPS);
  const of = (sort: string) => items.find((item) => item[LEDGER_KEY.sortKey]?.S === sort);
  return { control: decodeControl(of(SK.control)), runStatus: of(SK.run)?.status?.S as RunStatus | undefined };
}

export async function pausePolicy(table: LedgerTable, policyId: string, pause: Pause): Promise<ControlMoved> {
  const written = await table.update('pause', {
    key: controlKey(policyId),
    update: { set: encodeFields(CONTROL_FIELDS, { pause, intake: 'to-disable' }) },
    condition: absent(PAUSE),
  });
  return controlMoved(written, (control) => control.pause?.requestId === pause.requestId);
}

/**
 * A read and a write that only takes effect on what was read: the list of pauses grows by one, and its oldest goes. The
 * pause as it stands, its request id included, names that state: nothing else changes the list.
 */
export async function resumePolicy(
  table: LedgerTable,
  policyId: string,
  since: EpochMillis,
  now: EpochMillis,
): Promise<ControlMoved> {
  const item = await table.get('resume', controlKey(policyId));
  const control = decodeControl(item);
  const standing = item?.[PAUSE];
  if (standing === undefined || control.pause?.at !== since) {
    return { kind: hasEnded(control, since) ? 'moved' : 'refused', control };
  }
  const pauses: readonly PastPause[] = [...control.pauses, { from: since, until: now }].slice(-PAUSES_KEPT);
  const written = await table.update('resume', {
    key: controlKey(policyId),
    update: { set: encodeFields(CONTROL_FIELDS, { pauses, intake: 'to-enable' }), remove: [PAUSE] },
    condition: equals(PAUSE, standing),
  });
  return controlMoved(written, (met) => hasEnded(met, since));
}

/** Refused: somebody wants the mapping otherwise by now, or it was noted before. */
export async function settleIntake(
  table: LedgerTable,
  policyId: string,
  done: NonNullable<Control['intake']>,
): Promise<'settled' | 'moved-on'> {
  const written = await table.update('settleIntake', {
    key: controlKey(policyId),
    update: { set: {}, remove: [INTAKE] },
    condition: equals(INTAKE, text(done)),
  });
  return written.kind === 'written' ? 'settled' : 'moved-on';
}

/** The last pause began then and is over: what a resume of it is to achieve. */
function hasEnded({ pause, pauses }: Control, since: EpochMillis): boolean {
  return pause === undefined && pauses.at(-1)?.from === since;
}

function controlMoved({ kind, item }: Written, isOurs: (met: Control) => boolean): ControlMoved {
  const control = decodeControl(item);
  return { kind: kind === 'written' || isOurs(control) ? 'moved' : 'refused', control };
}

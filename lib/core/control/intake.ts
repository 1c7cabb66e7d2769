import type { EpochMillis } from '../identity/instant.ts';
import type { Control } from '../ledger/items.ts';
import { failureOf, type Intake, type Ledger, type Log } from '../ports/index.ts';

export interface IntakePorts {
  readonly ledger: Ledger;
  readonly intake: Intake;
  readonly log: Log;
}

const TRIES = 3;

/**
 * Makes the event source mapping follow the control item, where that is still to be done. It only saves deliveries that
 * would be put back anyway, so its failure is logged and left to the reconciler's next pass.
 */
export async function followControl(
  ports: IntakePorts,
  policyId: string,
  control: Control,
): Promise<'settled' | 'pending'> {
  if (control.intake === undefined) return 'settled';
  try {
    return await follow(ports, policyId, control);
  } catch (error) {
    const { error: errorClass, class: failureClass } = failureOf(error);
    ports.log.event('warn', 'intake_pending', { wanted: control.intake, errorClass, failureClass });
    return 'pending';
  }
}

const REPEATED_MILLIS = 60 * 60_000;

/**
 * What the reconciler makes the mapping follow: for an hour after a resume it is switched on at every pass, because the
 * call of a pause that was over by then may have come last.
 */
export function repeatedly(control: Control, now: EpochMillis): Control {
  const ended = control.pauses.at(-1)?.until;
  const recent = ended !== undefined && now - ended < REPEATED_MILLIS;
  return control.pause === undefined && recent ? { ...control, intake: 'to-enable' } : control;
}

/** Somebody may pause or resume between our call and its note, and our call then be the later one: so we look again. */
async function follow(
  { ledger, intake }: IntakePorts,
  policyId: string,
  seen: Control,
): Promise<'settled' | 'pending'> {
  let control = seen;
  for (let tries = 0; tries < TRIES; tries += 1) {
    await intake.set(control.pause === undefined ? 'on' : 'off');
    const done = control.pause === undefined ? 'to-enable' : 'to-disable';
    if ((await ledger.settleIntake(policyId, done)) === 'settled') return 'settled';
    const now = await ledger.readControl(policyId);
    if (now.intake === undefined && (now.pause === undefined) === (control.pause === undefined)) return 'settled';
    control = now;
  }
  return 'pending';
}

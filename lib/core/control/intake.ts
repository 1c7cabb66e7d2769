import type { Control } from '../ledger/items.ts';
import { failureOf, type Intake, type Ledger, type Log } from '../ports/index.ts';

export interface IntakePorts {
  readonly ledger: Ledger;
  readonly intake: Intake;
  readonly log: Log;
}

/**
 * Makes the event source mapping follow the control item, where that is still to be done. It only saves deliveries that
 * would be put back anyway, so its failure is logged and left to the reconciler's next pass.
 */
export async function followControl(
  { ledger, intake, log }: IntakePorts,
  policyId: string,
  control: Control,
): Promise<'settled' | 'pending'> {
  if (control.intake === undefined) return 'settled';
  try {
    await intake.set(control.intake === 'to-enable' ? 'on' : 'off');
    await ledger.settleIntake(policyId, control.intake);
    return 'settled';
  } catch (error) {
    const { error: errorClass, class: failureClass } = failureOf(error);
    log.event('warn', 'intake_pending', { wanted: control.intake, errorClass, failureClass });
    return 'pending';
  }
}

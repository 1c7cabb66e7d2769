import { followControl, type IntakePorts } from '../control/intake.ts';
import { formatInstant } from '../identity/instant.ts';
import type { Control, Pause } from '../ledger/items.ts';
import type { Deadline } from '../ports/index.ts';
import { publishDue } from '../publish/due.ts';
import { audit, JammedTrail } from './audit.ts';
import type { Named } from './request.ts';
import type { TendPorts } from './tend.ts';
import type { PauseView, SwitchView } from './views.ts';

export type SwitchPorts = TendPorts & IntakePorts;

export function viewPause(pause: Pause | undefined): PauseView | null {
  if (pause === undefined) return null;
  const { actor, reason, requestId, at } = pause;
  return { actor, reason, since: formatInstant(at), requestId };
}

/**
 * Stops a policy, whatever its audit trail is like. The control item is the guarantee: every consumer reads it before
 * each target call. Pausing what is paused changes nothing, but sees to the event source mapping again.
 */
export async function pause(ports: SwitchPorts, named: Named, requestId: string): Promise<SwitchView> {
  const { ledger, clock, policyId } = ports;
  const standing = await ledger.readControl(policyId);
  if (standing.pause !== undefined) return view(ports, 'pause', 'already', standing);
  const { actor, reason } = named;
  try {
    const act = { act: 'pause', actor, reason, requestId } as const;
    await audit(ports, { kind: 'policy', policyId }, act, { units: [] }, clock.now());
  } catch (error) {
    if (!(error instanceof JammedTrail)) throw error;
    // A stop cannot wait for the trail to be mended; the control item says who paused and why.
    ports.log.event('error', 'pause_not_audited', { policyId, requestId, message: error.message });
  }
  const moved = await ledger.pause(policyId, { actor, reason, requestId, at: clock.now() });
  return view(ports, 'pause', moved.kind === 'moved' ? 'done' : 'already', moved.control);
}

/** Lets a policy go on, and sends what had to wait. */
export async function resume(
  ports: SwitchPorts,
  named: Named,
  requestId: string,
  deadline: Deadline,
): Promise<SwitchView> {
  const { ledger, clock, policyId } = ports;
  const standing = await ledger.readControl(policyId);
  let control = standing;
  let result: SwitchView['result'] = 'already';
  if (standing.pause !== undefined) {
    const { actor, reason } = named;
    const act = { act: 'resume', actor, reason, requestId } as const;
    await audit(ports, { kind: 'policy', policyId }, act, { units: [] }, clock.now());
    const moved = await ledger.resume(policyId, standing.pause.at, clock.now());
    result = moved.kind === 'moved' ? 'done' : 'already';
    control = moved.control;
  }
  const switched = await view(ports, 'resume', result, control);
  return { ...switched, published: await publishDue(ports, deadline) };
}

async function view(
  ports: SwitchPorts,
  act: SwitchView['act'],
  result: SwitchView['result'],
  control: Control,
): Promise<SwitchView> {
  const { policyId } = ports;
  const intake = await followControl(ports, policyId, control);
  return { act, policyId, result, paused: viewPause(control.pause), intake, published: 0 };
}

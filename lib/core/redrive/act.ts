import { RefusedRequest } from '../plan/request.ts';
import type { Deadline } from '../ports/index.ts';
import { inspectUnit } from '../read/inspect.ts';
import { readQuarantine } from '../read/quarantine.ts';
import { abandon, abandonMessage } from './abandon.ts';
import { cancel } from './cancel.ts';
import { sayReceived } from './received.ts';
import { redrive } from './redrive.ts';
import type { ActRequest } from './request.ts';
import { pause, resume, type SwitchPorts } from './switch.ts';
import type { ActView, CancelView, InspectView, MessageAbandonedView, QuarantineView, SwitchView } from './views.ts';

export type ActPorts = SwitchPorts;

export type ActAnswer = QuarantineView | InspectView | ActView | MessageAbandonedView | SwitchView | CancelView;

/** Carries out what a person asked for. Throws RefusedRequest where it may not be done, and then nothing was. */
export async function carryOut(
  ports: ActPorts,
  request: ActRequest,
  requestId: string,
  deadline: Deadline,
): Promise<ActAnswer> {
  switch (request.act) {
    case 'list':
      return readQuarantine(ports, ports.policyId, request.filter, request.limit);
    case 'inspect':
      return (await inspectUnit(ports, request.run, request.unit)) ?? refuseUnit(request.run, request.unit);
    case 'redrive':
      return redrive(ports, request, requestId, deadline);
    case 'abandon':
      return abandon(ports, request, requestId, deadline);
    case 'abandon-message':
      return abandonMessage(ports, request, requestId, deadline);
    case 'pause':
      return pause(ports, request, requestId);
    case 'resume':
      return resume(ports, request, requestId, deadline);
    case 'cancel':
      return cancel(ports, request, requestId);
  }
}

function refuseUnit(run: string, unit: string): never {
  const received = sayReceived(`${run} ${unit}`);
  const message = `The ledger has no item of this unit: it was never started, or is in no such run. Received ${received}.`;
  throw new RefusedRequest([{ parameter: 'unit', received, message }]);
}

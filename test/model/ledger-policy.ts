import type { EpochMillis } from '../../lib/core/identity/instant.ts';
import {
  type AuditHead,
  type BadMessage,
  type Control,
  NO_CONTROL,
  PAUSES_KEPT,
  type Pause,
  type Selection,
} from '../../lib/core/ledger/items.ts';
import type { ControlMoved } from '../../lib/core/ports/index.ts';
import { copyOf } from './plain.ts';

/** What the ledger keeps of policies rather than of runs. */
export class PolicyItems {
  /** Called after every change of a policy's switch. */
  onControl: (before: Control, after: Control) => void = () => {};
  readonly #controls = new Map<string, Control>();
  readonly #selections = new Map<string, Selection>();
  readonly #versions = new Map<string, string>();
  readonly #badMessages = new Map<string, BadMessage>();

  get badMessages(): ReadonlyMap<string, BadMessage> {
    return this.#badMessages;
  }

  get selections(): readonly Selection[] {
    return [...this.#selections.values()];
  }

  control(policyId: string): Control {
    return this.#controls.get(policyId) ?? NO_CONTROL;
  }

  pause(policyId: string, pause: Pause): ControlMoved {
    const control = this.control(policyId);
    const ours = control.pause?.requestId === pause.requestId;
    if (control.pause !== undefined) return { kind: ours ? 'moved' : 'refused', control };
    return { kind: 'moved', control: this.#setControl(policyId, { ...control, pause, intake: 'to-disable' }) };
  }

  resume(policyId: string, since: EpochMillis, now: EpochMillis): ControlMoved {
    const control = this.control(policyId);
    if (control.pause?.at !== since) {
      const ended = control.pause === undefined && control.pauses.at(-1)?.from === since;
      return { kind: ended ? 'moved' : 'refused', control };
    }
    const pauses = [...control.pauses, { from: since, until: now }].slice(-PAUSES_KEPT);
    const resumed: Control = { ...control, pause: undefined, pauses, intake: 'to-enable' };
    return { kind: 'moved', control: this.#setControl(policyId, resumed) };
  }

  settleIntake(policyId: string, done: NonNullable<Control['intake']>): 'settled' | 'moved-on' {
    const control = this.control(policyId);
    if (control.intake !== done) return 'moved-on';
    this.#setControl(policyId, { ...control, intake: undefined });
    return 'settled';
  }

  setAuditHead(policyId: string, auditHead: AuditHead): void {
    this.#controls.set(policyId, copyControl({ ...this.control(policyId), auditHead }));
  }

  putSelection(selection: Selection): void {
    this.#selections.set(`${selection.policyId} ${selection.digest}`, copyOf(selection));
  }

  selection(policyId: string, digest: string): Selection | undefined {
    return this.#selections.get(`${policyId} ${digest}`);
  }

  versionDigest(policyId: string, policyVersion: string): string | undefined {
    return this.#versions.get(`${policyId} ${policyVersion}`);
  }

  claimVersion(policyId: string, policyVersion: string, digest: string): 'claimed' | 'other' {
    const key = `${policyId} ${policyVersion}`;
    const meaning = this.#versions.get(key) ?? digest;
    this.#versions.set(key, meaning);
    return meaning === digest ? 'claimed' : 'other';
  }

  recordBadMessage(message: BadMessage): void {
    const key = `${message.policyId} ${message.digest}`;
    if (!this.#badMessages.has(key)) this.#badMessages.set(key, copyOf(message));
  }

  badMessage(policyId: string, digest: string): BadMessage | undefined {
    return this.#badMessages.get(`${policyId} ${digest}`);
  }

  abandonBadMessage(policyId: string, digest: string, at: EpochMillis): void {
    const known = this.badMessage(policyId, digest);
    if (known === undefined) return;
    this.#badMessages.set(`${policyId} ${digest}`, copyOf({ abandonedAt: at, ...known }));
  }

  #setControl(policyId: string, control: Control): Control {
    const before = this.control(policyId);
    const after = copyControl(control);
    this.#controls.set(policyId, after);
    this.onControl(before, after);
    return after;
  }
}

/** A control item says of each of its parts that it is not there. */
function copyControl({ pause, pauses, intake, auditHead }: Control): Control {
  return Object.freeze({ pause: copyOf(pause), pauses: copyOf(pauses), intake, auditHead: copyOf(auditHead) });
}

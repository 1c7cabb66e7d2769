import { digestOf } from '../../lib/core/identity/encode.ts';
import type { ActAnswer } from '../../lib/core/redrive/act.ts';
import type { Deployment } from '../helpers/deployment.ts';
import { keyOfId, type Row } from '../model/index.ts';
import type { Evidence, Happening } from './checker/index.ts';

type Unstamped<T> = T extends Happening ? Omit<T, 'at'> : never;

/** Writes down what happens in a deployment, for the checker to judge. */
export class Journal {
  readonly #deployment: Deployment;
  readonly #happenings: Happening[] = [];
  readonly #firstRows: readonly Row[];

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
    const { ledger, queue, stops, records, settings } = deployment;
    this.#firstRows = records.rows();
    const { policyId } = settings;
    ledger.onRunMoved = (before, after) => this.#note({ kind: 'run', before, after });
    ledger.onUnitMoved = ({ edge, before, after }) => this.#note({ kind: 'unit', edge, before, after });
    ledger.onControl = (before, after) => this.#note({ kind: 'control', policyId, before, after });
    ledger.onAudited = (scope, entry) =>
      this.#note({ kind: 'audit', scope: scope.kind === 'run' ? scope.runId : scope.policyId, entry });
    queue.onSent = ({ body }) => this.#note({ kind: 'sent', body, run: this.#standing(body).run });
    queue.onAcknowledge = ({ body }) => {
      const badMessage = ledger.knowsBadMessage(policyId, digestOf(['message', body]));
      this.#note({ kind: 'acknowledged', body, ...this.#standing(body), badMessage });
    };
    stops.onTargetCall = ({ items }) =>
      this.#note({ kind: 'call', operationKeys: items.map(({ operationKey }) => operationKey) });
  }

  /** Somebody else changed a record, or put it there. */
  person(id: string): void {
    this.#note({ kind: 'person', key: keyOfId(id), row: this.#deployment.records.row(id) });
  }

  act(requestId: string, answer: ActAnswer): void {
    this.#note({ kind: 'act', requestId, answer });
  }

  async evidence(): Promise<Evidence> {
    const { ledger, records, settings, log } = this.#deployment;
    return {
      vocabulary: {
        key: settings.partitionKeyAttribute,
        tenant: settings.tenantAttribute,
        timestamp: settings.timestampAttribute,
        state: settings.stateAttribute,
        eligible: settings.eligibleState,
        expired: settings.expiredState,
        expiredAt: settings.expiredAtAttribute,
        operationKey: settings.operationKeyAttribute,
        holds: settings.holdAttributes.split(','),
      },
      policyId: settings.policyId,
      control: await ledger.readControl(settings.policyId),
      ledger: ledger.contents(),
      firstRows: this.#firstRows,
      rows: records.rows(),
      writes: records.writes,
      happenings: this.#happenings,
      mismatches: log.named('proof_mismatch').length,
    };
  }

  #note(happening: Unstamped<Happening>): void {
    this.#happenings.push({ ...happening, at: this.#deployment.world.millis } as Happening);
  }

  #standing(body: string) {
    try {
      const { runId, unit } = JSON.parse(body) as { readonly runId: string; readonly unit: string };
      return this.#deployment.ledger.peek({ runId, unit });
    } catch {
      return { run: undefined, unit: undefined };
    }
  }
}

import { main } from '../../../lib/cli/main.ts';
import type { Answer, CliWorld, Functions, Pipeline } from '../../../lib/cli/world.ts';
import { checkOnly } from '../../../lib/core/plan/dispatch.ts';
import { RefusedRequest, readDispatchRequest } from '../../../lib/core/plan/request.ts';
import { readTimestamp } from '../../../lib/core/policy/timestamp.ts';
import type { RecordLookup, RecordNow } from '../../../lib/core/read/record-now.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { expiryWitnessOf, idOfKey, storedValue, witnessOf } from '../../model/index.ts';
import { dispatchPorts } from '../core/stage.ts';

export const CALLER = 'arn:aws:iam::000000000000:user/ada';

/** What a command line did. */
export interface Ran {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

export interface TerminalOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** What the person answers; nobody is there where it is absent. */
  readonly answer?: string;
  /** Somebody watches standard error, so that there is a line of progress. */
  readonly watched?: true;
  readonly lookUp?: RecordLookup['lookUp'];
  /** Answers of the functions in place of the deployed ones. */
  readonly functions?: Partial<Functions>;
}

/** The command line on a pipeline of models. */
export class Terminal {
  readonly stacks: string[] = [];
  readonly started: object[] = [];
  readonly called: object[] = [];
  readonly questions: string[] = [];
  readonly statuses: string[] = [];
  readonly #deployment: Deployment;
  readonly #options: TerminalOptions;

  constructor(deployment: Deployment, options: TerminalOptions = {}) {
    this.#deployment = deployment;
    this.#options = options;
  }

  async run(...args: string[]): Promise<Ran> {
    let out = '';
    let err = '';
    const { answer, watched, env = {} } = this.#options;
    const world: CliWorld = {
      version: '1.2.3',
      env,
      clock: this.#deployment.world.clock(),
      out: (text) => {
        out += text;
      },
      err: (text) => {
        err += text;
      },
      status: watched && ((line) => this.statuses.push(line)),
      ask: answer === undefined ? undefined : (question) => this.#ask(question, answer),
      connect: async (stackName) => this.#pipeline(stackName),
    };
    const exitCode = await main(args, world);
    return { exitCode, out, err };
  }

  /** The one JSON value that a command prints. */
  async json<T>(...args: string[]): Promise<T> {
    const { out } = await this.run(...args, '--json');
    return JSON.parse(out) as T;
  }

  async #ask(question: string, answer: string): Promise<string> {
    this.questions.push(question);
    return answer;
  }

  #pipeline(stackName: string): Pipeline {
    this.stacks.push(stackName);
    const { settings, ledger } = this.#deployment;
    const { policyId, policyVersion, mode, action, recordTableName } = settings;
    return {
      outputs: {
        stackName,
        policyId,
        policyVersion,
        mode,
        action,
        recordTableName,
        ledgerTableName: 'ledger',
        workQueueUrl: 'work',
        deadLetterQueueUrl: 'dead-letters',
        dispatcherFunctionName: 'dispatcher',
        redriveFunctionName: 'redrive',
      },
      ledger,
      queue: this.#deployment.queue,
      records: { lookUp: this.#options.lookUp ?? (async (_, key) => recordNow(this.#deployment, key)) },
      functions: {
        call: async (name, event) => {
          this.called.push(event);
          const answer = name === 'dispatcher' ? this.#check : this.#redrive;
          return this.#options.functions?.call?.(name, event) ?? answer.call(this, event);
        },
        start: async (name, event) => {
          this.started.push(event);
          await (this.#options.functions?.start?.(name, event) ?? this.#dispatch(event));
        },
      },
      caller: async () => CALLER,
    };
  }

  async #dispatch(event: object): Promise<void> {
    const { scheduledTime } = readDispatchRequest(event, this.#deployment.world.millis);
    await this.#deployment.dispatch(scheduledTime);
  }

  /** As the dispatcher's handler answers a preflight. */
  async #check(event: object): Promise<Answer> {
    const { settings, world } = this.#deployment;
    const checked = await checkOnly(
      dispatchPorts(this.#deployment),
      settings,
      readDispatchRequest(event, world.millis),
    );
    const problems = checked.kind === 'refused' ? checked.problems : [];
    return { kind: 'answered', value: { kind: 'preflight', problems } };
  }

  /** As the redrive function answers. */
  async #redrive(event: object): Promise<Answer> {
    try {
      const ended = await this.#deployment.act(event);
      if (ended.kind === 'done') return { kind: 'answered', value: JSON.parse(JSON.stringify(ended.value)) };
      const error = ended.kind === 'failed' ? ended.error : new Error(`crashed at ${ended.call}`);
      throw error;
    } catch (error) {
      if (!(error instanceof RefusedRequest)) throw error;
      return { kind: 'failed', errorType: error.name, errorMessage: error.message };
    }
  }
}

function recordNow({ records, settings }: Deployment, key: string): RecordNow {
  const parts: unknown[] = JSON.parse(key);
  if (parts.length !== 1 || !String(parts[0]).startsWith('S')) return { kind: 'not-a-key' };
  const row = records.row(idOfKey(key));
  if (row === undefined) return { kind: 'absent' };
  const text = (name: string) => (typeof row[name] === 'string' ? row[name] : null);
  const { stateAttribute, tenantAttribute, operationKeyAttribute, holdAttributes } = settings;
  const deletes = settings.action === 'delete';
  const timestampAttribute = deletes ? settings.expiredAtAttribute : settings.timestampAttribute;
  return {
    kind: 'present',
    record: {
      state: text(stateAttribute),
      timestamp: readTimestamp(storedValue(row, timestampAttribute), settings.timestampFormat),
      witness: deletes ? expiryWitnessOf(row, settings) : witnessOf(row, settings),
      tenant: text(tenantAttribute) || undefined,
      heldBy: holdAttributes.split(',').filter((name) => row[name]),
      operationKey: text(operationKeyAttribute),
    },
  };
}

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { LambdaClient } from '@aws-sdk/client-lambda';
import { type Problem, parseSettings } from '../core/policy/parse.ts';
import { NO_LIMIT, SETTING_KEYS, type Settings } from '../core/policy/settings.ts';
import { PortError } from '../core/ports/failure.ts';
import type { GrantProbe } from '../core/ports/probe.ts';
import { RESOURCES } from './environment.ts';
import { portError, refusal } from './errors.ts';
import { InvokeCommand } from './lambda.ts';
import { describeTable, type KeyFacts } from './targets/dynamodb/describe.ts';

/** What the dispatcher asks the consumer: would these writes be permitted to your role? */
export interface ProbeRequest {
  readonly settings: Settings;
  /** Of the record table, partition key first; the consumer may not look at the table's description itself. */
  readonly keys: readonly KeyFacts[];
}

export interface ProbeAnswer {
  readonly problems: readonly Problem[];
}

export interface ProbePorts {
  readonly dynamo: DynamoDBClient;
  /** With a time limit above a cold start of the consumer. */
  readonly lambda: LambdaClient;
  readonly consumerFunction: string;
}

/** Invokes the consumer and waits: only its own role can tell what its role may do. */
export class LambdaGrantProbe implements GrantProbe {
  readonly #ports: ProbePorts;

  constructor(ports: ProbePorts) {
    this.#ports = ports;
  }

  async missingGrants(settings: Settings): Promise<readonly Problem[]> {
    const { keys } = await describeTable(this.#ports.dynamo, settings.recordTableName);
    const probe: ProbeRequest = { settings, keys };
    try {
      return problemsIn(await this.#ask({ probe }));
    } catch (error) {
      const failed = portError('probe', error);
      if (failed.failure.error.startsWith('AccessDenied')) return [this.#denied()];
      throw failed;
    }
  }

  async #ask(event: { readonly probe: ProbeRequest }): Promise<unknown> {
    const { lambda, consumerFunction } = this.#ports;
    const command = new InvokeCommand({
      FunctionName: consumerFunction,
      InvocationType: 'RequestResponse',
      Payload: Buffer.from(JSON.stringify(event)),
    });
    const { FunctionError, Payload } = await lambda.send(command);
    // It may have been a timeout or a cold start that failed, so it is worth another try.
    if (FunctionError !== undefined) throw new PortError('probe', { class: 'transient', error: 'ConsumerFailed' });
    return JSON.parse(Buffer.from(Payload ?? []).toString() || 'null');
  }

  #denied(): Problem {
    const { consumerFunction } = this.#ports;
    return {
      parameter: RESOURCES.consumerFunction,
      received: consumerFunction,
      message: `The dispatcher may not invoke the consumer, so nobody knows whether the consumer may write: deploy the stack again. Received ${consumerFunction}.`,
    };
  }
}

function problemsIn(answer: unknown): readonly Problem[] {
  const { problems } = (answer ?? {}) as { readonly problems?: unknown };
  const wellFormed =
    Array.isArray(problems) &&
    problems.every((problem) =>
      ['parameter', 'received', 'message'].every((part) => typeof problem?.[part] === 'string'),
    );
  if (!wellFormed) throw refusal('probe', 'MalformedAnswer');
  return problems as readonly Problem[];
}

/**
 * Reads what a consumer was asked; undefined where the event is no such question. Settings are parsed like any other,
 * because names out of them become part of statements (pitfall P74).
 */
export function readProbeRequest(event: unknown): ProbeRequest | undefined {
  const { probe, Records } = (event ?? {}) as { readonly probe?: unknown; readonly Records?: unknown };
  if (probe === undefined || probe === null || Records !== undefined) return undefined;
  const { settings, keys } = probe as { readonly settings?: Record<string, unknown>; readonly keys?: unknown };
  const texts = SETTING_KEYS.map((key) => {
    const value = settings?.[key];
    return [key, value === null ? NO_LIMIT : value === undefined ? undefined : String(value)];
  });
  const parsed = parseSettings(Object.fromEntries(texts));
  if (parsed.kind === 'invalid' || !Array.isArray(keys) || keys.length < 1 || !keys.every(isKey)) return undefined;
  return { settings: parsed.settings, keys };
}

function isKey(key: unknown): key is KeyFacts {
  const { name, role, type } = (key ?? {}) as { readonly [part in keyof KeyFacts]?: unknown };
  const named = typeof name === 'string' && /^[A-Za-z0-9_.-]{1,255}$/.test(name);
  return named && (role === 'partition' || role === 'sort') && (type === 'S' || type === 'N' || type === 'B');
}

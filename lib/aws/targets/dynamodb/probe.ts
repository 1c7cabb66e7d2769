import { randomBytes, randomUUID } from 'node:crypto';
import {
  BatchExecuteStatementCommand,
  type BatchStatementResponse,
  type DynamoDBClient,
  GetItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { Problem } from '../../../core/policy/parse.ts';
import type { Settings } from '../../../core/policy/settings.ts';
import { PortError } from '../../../core/ports/failure.ts';
import type { TargetCall, WorkItem } from '../../../core/ports/target.ts';
import { classify, classOfCode, refusal } from '../../errors.ts';
import { isThere } from './applied.ts';
import type { KeyFacts } from './describe.ts';
import { recordGuard } from './guard.ts';
import { keyNames, keyValues, recordKey } from './keys.ts';
import { problemOf } from './problem.ts';
import { recordStatement } from './statement.ts';
import type { TransitionKind } from './transition.ts';
import type { KeyType } from './values.ts';
import { witnessOf } from './witness.ts';

/**
 * Makes the very calls that a run of these settings makes, with the credentials of the client, on a key that no record
 * has and a witness that none can match: nothing can be written. Empty where all of them are permitted. `keys` are the
 * table's own, for their types. Throws PortError where a call failed for any other reason than a missing grant.
 */
export async function probeWrites(
  client: DynamoDBClient,
  settings: Settings,
  keys: readonly KeyFacts[],
): Promise<readonly Problem[]> {
  const key = nobodysKey(settings, keys);
  const calls = [
    () => write(client, settings, 'expire', key),
    () => read(client, settings, key),
    ...(settings.action === 'delete' ? [() => write(client, settings, 'delete', key)] : []),
  ];
  const [update, get, deletion] = await Promise.all(calls.map((call) => call()));
  return [
    ...(update === 'denied' || get === 'denied' ? [missing('mode', settings, 'update or read')] : []),
    ...(deletion === 'denied' ? [missing('allowDelete', settings, 'delete')] : []),
  ];
}

function missing(key: 'mode' | 'allowDelete', settings: Settings, what: string): Problem {
  const message = `the consumer's role may not ${what} records of the table ${settings.recordTableName}: deploy the stack with the value that grants it, and look for a policy that denies it.`;
  return problemOf(key, settings, message);
}

type Grant = 'granted' | 'denied';

async function write(client: DynamoDBClient, settings: Settings, kind: TransitionKind, key: string): Promise<Grant> {
  const call: TargetCall = { kind, settings, now: 0, items: [nobodysItem(settings, kind, key)] };
  const Statements = call.items.map((item) => recordStatement(call, item, recordGuard));
  const answer = await unlessDenied(() => client.send(new BatchExecuteStatementCommand({ Statements })));
  return answer === 'denied' ? answer : grantOf(kind, answer.Responses?.[0]);
}

/** The condition of a missing record returns no record, so that the consumer reads it. */
async function read(client: DynamoDBClient, settings: Settings, key: string): Promise<Grant> {
  const Key = Object.fromEntries(keyValues(key, keyNames(settings)));
  const input = { TableName: settings.recordTableName, Key, ConsistentRead: true };
  const answer = await unlessDenied(() => client.send(new GetItemCommand(input)));
  return answer === 'denied' ? answer : 'granted';
}

/** A call may be denied as a whole, or a statement of it. */
async function unlessDenied<T>(call: () => Promise<T>): Promise<T | 'denied'> {
  try {
    return await call();
  } catch (error) {
    const failure = classify(error);
    if (isDenial(failure.error)) return 'denied';
    throw new PortError('probe writes', failure, error);
  }
}

function grantOf(kind: TransitionKind, response: BatchStatementResponse | undefined): Grant {
  if (response === undefined) throw new PortError('probe writes', { class: 'transient', error: 'NoAnswer' });
  const code = response.Error?.Code;
  if (code === 'ConditionalCheckFailed') return 'granted';
  if (code !== undefined && isDenial(code)) return 'denied';
  if (code !== undefined) throw new PortError('probe writes', { class: classOfCode(code), error: code });
  // An update that succeeds, or a deletion that found something: such a store judges no condition.
  if (kind !== 'delete' || isThere(response.Item)) throw refusal('probe writes', 'ProbeTookEffect');
  return 'granted';
}

function isDenial(code: string): boolean {
  return code.startsWith('AccessDenied');
}

function nobodysItem(settings: Settings, kind: TransitionKind, key: string): WorkItem {
  const never = { S: `probe-${randomUUID()}` };
  const record = {
    [settings.timestampAttribute]: never,
    [settings.expiredAtAttribute]: never,
    [settings.operationKeyAttribute]: never,
  };
  return { key, witness: witnessOf(kind, settings, record), operationKey: never.S, writeUnits: 0 };
}

function nobodysKey(settings: Settings, keys: readonly KeyFacts[]): string {
  const names = keyNames(settings);
  const typeOf = (name: string) => keys.find((key) => key.name === name)?.type ?? 'S';
  return recordKey(Object.fromEntries(names.map((name) => [name, nobodys(typeOf(name))])), names);
}

function nobodys(type: KeyType) {
  if (type === 'B') return { B: randomBytes(32) };
  return type === 'S'
    ? { S: `ledgersweep-probe-${randomUUID()}` }
    : { N: `-${BigInt(`0x9${randomBytes(14).toString('hex')}`)}` };
}

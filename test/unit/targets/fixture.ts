import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { SettingKey } from '../../../lib/core/policy/settings.ts';
import type { TargetCall, WorkItem } from '../../../lib/core/ports/index.ts';
import { testSettings } from '../../model/settings.ts';

export const NOW = Date.UTC(2026, 0, 1, 2, 0, 5, 250);

export function workItem(id: string, writeUnits = 1): WorkItem {
  return {
    key: JSON.stringify([`S${id}`]),
    witness: 'S2021-06-01T12:00:00Z',
    operationKey: `operation-${id}`,
    writeUnits,
  };
}

export function callOf(items: readonly WorkItem[], overrides: Partial<Record<SettingKey, string>> = {}): TargetCall {
  return { kind: 'expire', settings: testSettings(overrides), now: NOW, items };
}

/** The work and the call of a deletion. */
export function deletionItem(id: string, writeUnits = 1): WorkItem {
  return { ...workItem(id, writeUnits), witness: JSON.stringify(['S2026-01-01T02:00:05.250Z', `Searlier:${id}`]) };
}

export function deletionOf(
  items: readonly WorkItem[],
  overrides: Partial<Record<SettingKey, string>> = {},
): TargetCall {
  return { ...callOf(items, { action: 'delete', allowDelete: 'yes', ...overrides }), kind: 'delete' };
}

/** A client that answers each command by its name, and keeps what it was asked. */
export function fakeClient(answers: Readonly<Record<string, (input: never) => unknown>>) {
  const asked: { readonly command: string; readonly input: object }[] = [];
  const send = async (command: { readonly input: object }) => {
    const name = command.constructor.name;
    asked.push({ command: name, input: command.input });
    const answer = answers[name];
    if (answer === undefined) throw new Error(`Nothing was said about ${name}.`);
    return answer(command.input as never);
  };
  return { client: { send } as unknown as DynamoDBClient, asked };
}

/** Adds up what it is told; it takes every store for one that does not report. */
export function fakeMeter() {
  const told: { readonly estimated: number; readonly reported: number | undefined }[] = [];
  return {
    told,
    addWriteUnits(estimated: number, reported?: readonly { readonly CapacityUnits?: number | undefined }[]) {
      told.push({ estimated, reported: reported?.reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0) });
    },
  };
}

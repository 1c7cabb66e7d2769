import type { LambdaClient } from '@aws-sdk/client-lambda';
import { describe, expect, it } from 'vitest';
import { LambdaResumer } from '../../../lib/aws/resumer.ts';

describe('resumer', () => {
  it('invokes the dispatcher asynchronously with the run’s own scheduled time', async () => {
    const inputs: { Payload: Uint8Array }[] = [];
    const send = async (command: { input: { Payload: Uint8Array } }) => void inputs.push(command.input);
    const client = { send } as unknown as LambdaClient;
    await new LambdaResumer(client, 'dispatcher').resume({
      runId: 'accounts.v1.20260101T020000Z',
      scheduledTime: Date.UTC(2026, 0, 1, 2),
    });
    expect(inputs[0]).toMatchObject({ FunctionName: 'dispatcher', InvocationType: 'Event' });
    const event: unknown = JSON.parse(Buffer.from(inputs[0]?.Payload ?? []).toString());
    expect(event).toEqual({
      scheduledTime: '2026-01-01T02:00:00.000Z',
      runId: 'accounts.v1.20260101T020000Z',
      resumedBy: 'reconciler',
    });
  });

  it('fails by a class that says whether to try again', async () => {
    const denied = Object.assign(new Error('no'), { name: 'AccessDeniedException' });
    const client = { send: () => Promise.reject(denied) } as unknown as LambdaClient;
    const failing = new LambdaResumer(client, 'dispatcher').resume({ runId: 'accounts.v1', scheduledTime: 0 });
    await expect(failing).rejects.toMatchObject({ failure: { class: 'permanent', error: 'AccessDeniedException' } });
  });
});

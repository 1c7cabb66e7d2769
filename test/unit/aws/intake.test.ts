import type { LambdaClient } from '@aws-sdk/client-lambda';
import { describe, expect, it } from 'vitest';
import { MappingIntake } from '../../../lib/aws/intake.ts';

function intakeAnswering(answer: () => object) {
  const sent: object[] = [];
  const client = {
    send: async (command: { readonly input: object }) => {
      sent.push({ name: command.constructor.name, ...command.input });
      return answer();
    },
  };
  return { intake: new MappingIntake(client as unknown as LambdaClient, 'uuid-1'), sent };
}

describe('intake', () => {
  it('switches the one mapping on and off, and changes nothing else of it', async () => {
    const { intake, sent } = intakeAnswering(() => ({}));
    await intake.set('off');
    await intake.set('on');
    const name = 'UpdateEventSourceMappingCommand';
    expect(sent).toEqual([
      { name, UUID: 'uuid-1', Enabled: false },
      { name, UUID: 'uuid-1', Enabled: true },
    ]);
  });

  it.each([
    ['ResourceInUseException', 'transient'],
    ['ResourceConflictException', 'transient'],
    ['TooManyRequestsException', 'transient'],
    ['ResourceNotFoundException', 'permanent'],
    ['AccessDeniedException', 'permanent'],
  ])('a mapping that answers %s is a %s failure', async (name, wanted) => {
    const { intake } = intakeAnswering(() => {
      throw Object.assign(new Error('no'), { name, $fault: 'client', $metadata: { httpStatusCode: 400 } });
    });
    await expect(intake.set('off')).rejects.toMatchObject({ failure: { class: wanted, error: name } });
  });
});

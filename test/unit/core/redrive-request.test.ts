import { describe, expect, it } from 'vitest';
import { RefusedRequest } from '../../../lib/core/plan/request.ts';
import { readRedriveRequest } from '../../../lib/core/redrive/request.ts';

const GOOD = { act: 'redrive', actor: 'arn:aws:iam::1:user/eve', reason: 'table limit raised', all: true };

function parametersRefused(event: unknown): readonly string[] {
  try {
    readRedriveRequest(event);
  } catch (error) {
    if (error instanceof RefusedRequest) return error.problems.map(({ parameter }) => parameter);
    throw error;
  }
  return [];
}

describe('request of an act', () => {
  it('lists without more ado, and redrives with who and why', () => {
    expect(readRedriveRequest({ act: 'list' })).toEqual({ act: 'list' });
    expect(readRedriveRequest(GOOD)).toEqual({ act: 'redrive', actor: GOOD.actor, reason: GOOD.reason });
    expect(readRedriveRequest({ ...GOOD, actor: '  eve ', reason: ' why\n' })).toMatchObject({
      actor: 'eve',
      reason: 'why',
    });
  });

  it.each([undefined, null, '', 'redrive', 7, [], {}, { act: 'purge' }, { act: 'Redrive' }, { act: ['redrive'] }])(
    'refuses the event %j',
    (event) => {
      expect(parametersRefused(event)).toEqual(['act']);
    },
  );

  it.each(['', '   ', '\n', null, undefined, 7, {}, 'x'.repeat(501)])('refuses an actor or a reason of %j', (value) => {
    expect(parametersRefused({ ...GOOD, actor: value })).toEqual(['actor']);
    expect(parametersRefused({ ...GOOD, reason: value })).toEqual(['reason']);
  });

  it.each([undefined, false, 'true', 1, null])('takes everything only where that is said: all is not %j', (all) => {
    expect(parametersRefused({ ...GOOD, all })).toEqual(['all']);
  });

  it('reports everything that is wrong at once', () => {
    expect(parametersRefused({ act: 'redrive' })).toEqual(['actor', 'reason', 'all']);
  });
});

import { describe, expect, it } from 'vitest';
import { RefusedRequest } from '../../../lib/core/plan/request.ts';
import { readActRequest } from '../../../lib/core/redrive/request.ts';

const NAMED = { actor: 'arn:aws:iam::1:user/eve', reason: 'table limit raised' };
const REDRIVE = { act: 'redrive', ...NAMED, all: true };
const RUN = 'accounts.v1.20260101T000000Z';

function problemsOf(event: unknown): RefusedRequest['problems'] {
  try {
    readActRequest(event);
  } catch (error) {
    if (error instanceof RefusedRequest) return error.problems;
    throw error;
  }
  return [];
}

function refused(event: unknown): readonly string[] {
  return problemsOf(event).map(({ parameter }) => parameter);
}

describe('request of an act', () => {
  const units = { effect: 'real', limit: undefined, from: 0, ...NAMED };
  const redrive = {
    ...{ act: 'redrive', ...units },
    ...{ perSecond: undefined, startAt: undefined, beyondGenerations: 'refused' },
  };

  it.each([
    [{ act: 'list' }, { act: 'list', filter: {}, limit: 100 }],
    [
      { act: 'list', filter: { tenant: 't1' }, limit: 0 },
      { act: 'list', filter: { tenant: 't1' }, limit: 0 },
    ],
    [
      { act: 'inspect', run: RUN, unit: '3.17' },
      { act: 'inspect', run: RUN, unit: '3.17' },
    ],
    [REDRIVE, { ...redrive, choice: { kind: 'all' } }],
    [
      { act: 'redrive', ...NAMED, filter: { run: RUN, unit: '3' }, beyondGenerations: true },
      { ...redrive, choice: { kind: 'filter', filter: { run: RUN, unit: '3' } }, beyondGenerations: 'allowed' },
    ],
    [
      {
        ...{ act: 'redrive', ...NAMED, selection: 'd', limit: 37, from: 74 },
        ...{ perSecond: 0.5, startAt: '2026-01-31T02:00:00Z' },
      },
      {
        ...{ ...redrive, choice: { kind: 'selection', digest: 'd' }, limit: 37, from: 74 },
        ...{ perSecond: 0.5, startAt: Date.UTC(2026, 0, 31, 2) },
      },
    ],
    [
      { act: 'abandon', ...NAMED, filter: { olderThanHours: 12.5, reason: 'too_old', errorClass: 'TooOld' } },
      {
        ...{ act: 'abandon', ...units },
        choice: { kind: 'filter', filter: { olderThanHours: 12.5, reason: 'too_old', errorClass: 'TooOld' } },
      },
    ],
    [
      { act: 'abandon', ...NAMED, message: 'abc' },
      { act: 'abandon-message', ...NAMED, digest: 'abc' },
    ],
    [
      { act: 'pause', ...NAMED },
      { act: 'pause', ...NAMED },
    ],
    [
      { act: 'resume', actor: '  eve ', reason: ' why\n' },
      { act: 'resume', actor: 'eve', reason: 'why' },
    ],
    [
      { act: 'cancel', ...NAMED, run: RUN },
      { act: 'cancel', ...NAMED, run: RUN },
    ],
  ])('%j is understood', (event, request) => {
    expect(readActRequest(event)).toEqual(request);
  });

  it('that is a dry run needs neither name nor reason, for it does nothing', () => {
    expect(readActRequest({ act: 'abandon', all: true, dryRun: true })).toMatchObject({ effect: 'dry-run' });
    expect(refused({ act: 'abandon', all: true, dryRun: false })).toEqual(['actor', 'reason']);
    expect(refused({ act: 'abandon', all: true, dryRun: 'true', ...NAMED })).toEqual(['dryRun']);
  });

  it.each([undefined, null, '', 'redrive', 7, [], {}, { act: 'purge' }, { act: 'Redrive' }, { act: ['redrive'] }])(
    'of %j names no act and is refused',
    (event) => {
      expect(refused(event)).toEqual(['act']);
    },
  );

  it.each([
    ['hi', 'a text of 2 characters'],
    [7, 'a number'],
    [['redrive'], 'a list'],
    [null, 'null'],
    [undefined, '(nothing)'],
  ])('that is %j is told what it is, and that it must be an object', (event, form) => {
    const [problem] = problemsOf(event);
    expect(problem).toMatchObject({ parameter: 'act', received: form });
    expect(problem?.message).toMatch(/^The event must be an object with an act, one of list, .* Received .*\.$/);
  });

  it.each(['a\ud800c', '\udc00', 'a\ud800'])('holds no half characters: %j is refused wherever it stands', (text) => {
    const units = { act: 'redrive', ...NAMED };
    for (const [event, parameter] of [
      [{ ...REDRIVE, actor: text }, 'actor'],
      [{ act: 'pause', ...NAMED, reason: text }, 'reason'],
      [{ act: 'cancel', ...NAMED, run: text }, 'run'],
      [{ ...units, selection: text }, 'selection'],
      [{ act: 'abandon', ...NAMED, message: text }, 'message'],
      [{ ...units, filter: { tenant: text } }, 'filter.tenant'],
      [{ ...units, filter: { errorClass: text } }, 'filter.errorClass'],
    ] as const) {
      const [problem] = problemsOf(event);
      expect([problem?.parameter, problem?.message]).toEqual([parameter, expect.stringContaining('half a character')]);
      expect(JSON.stringify(problem)).not.toMatch(/[^\\]\\ud[89a-f]/);
    }
    expect(refused({ ...REDRIVE, reason: 'whole 🙂' })).toEqual([]);
  });

  it('is repeated in part only where it is refused: a log keeps the refusal', () => {
    const long = 'x'.repeat(600);
    const event = { act: 'redrive', actor: long, reason: long, selection: long, perSecond: long, [long]: long };
    const problems = problemsOf({ ...event, filter: { run: long, errorClass: long } });
    expect(problems.length).toBeGreaterThan(6);
    for (const { parameter, received, message } of problems) {
      expect(parameter.length).toBeLessThan(100);
      expect(received.length).toBeLessThan(100);
      expect(message.match(/x+/g)?.every((part) => part.length <= 80) ?? true).toBe(true);
    }
    expect(
      problemsOf({ act: 'pause', actor: `${'x'.repeat(77)}${'🙂'.repeat(300)}`, reason: 'r' })[0]?.received,
    ).toSatisfy((text: string) => text.isWellFormed());
  });

  it('is told without the tenant that it names, whichever way it is wrong', () => {
    const units = { act: 'redrive', ...NAMED };
    for (const event of [
      { ...units, all: true, filter: { tenant: 'acme' } },
      { ...units, filter: 'tenant=acme' },
      { ...units, filter: [{ tenant: 'acme' }] },
      { ...units, filter: { tennant: 'acme' } },
      { ...units, filter: { tenant: 'acme'.repeat(200) } },
      { ...units, filter: { tenant: { name: 'acme' } } },
      { ...units, filter: { tenant: 'acme', run: { acme: ['acme'] } } },
      { ...units, tenant: 'acme', all: true },
      { ...units, selection: 'd', filter: { tenant: 'acme' } },
      { act: 'list', filter: ['acme'] },
      'redrive acme',
    ]) {
      expect(problemsOf(event).length).toBeGreaterThan(0);
      expect(JSON.stringify(problemsOf(event))).not.toContain('acme');
    }
  });

  it.each(['', '   ', '\n', null, undefined, 7, {}, 'x'.repeat(501)])(
    'needs who and why, and %j is neither',
    (value) => {
      for (const event of [REDRIVE, { act: 'abandon', all: true, ...NAMED }, { act: 'pause', ...NAMED }]) {
        expect(refused({ ...event, actor: value })).toEqual(['actor']);
        expect(refused({ ...event, reason: value })).toEqual(['reason']);
      }
      expect(refused({ act: 'resume', ...NAMED, reason: value })).toEqual(['reason']);
      expect(refused({ act: 'cancel', ...NAMED, run: RUN, actor: value })).toEqual(['actor']);
      expect(refused({ act: 'abandon', ...NAMED, message: 'abc', actor: value })).toEqual(['actor']);
    },
  );

  it('reports everything that is wrong at once, with where, what came and what to do', () => {
    const event = {
      ...{ act: 'redrive', actor: ' ', all: 'yes', limit: 0, from: 1.5, perSecond: 0, startAt: 'tomorrow' },
      ...{ filter: { unit: '01', tennant: 't1', olderThanHours: -1 }, beyondGenerations: 1, run: RUN },
    };
    const problems = problemsOf(event);
    expect(problems.map(({ parameter }) => parameter).sort()).toEqual(
      [
        ...['actor', 'reason', 'all', 'limit', 'from', 'perSecond', 'startAt', 'beyondGenerations', 'run'],
        ...['filter', 'filter.unit', 'filter.tennant', 'filter.olderThanHours', 'from'],
      ].sort(),
    );
    const received = Object.fromEntries(problems.map((problem) => [problem.parameter, problem.received]));
    expect(received).toMatchObject({
      ...{ actor: '" "', reason: '(nothing)', all: '"yes"', limit: '0', perSecond: '0', startAt: '"tomorrow"' },
      ...{ 'filter.unit': '"01"', 'filter.tennant': 'a text of 2 characters', beyondGenerations: '1' },
    });
    for (const { parameter, message } of problems) {
      const name = parameter.split('.').at(-1) ?? '';
      expect(message).toMatch(/Received .+\.$/);
      expect(message.includes(name) || message.startsWith('Say which units')).toBe(true);
    }
  });

  it.each([undefined, {}, { tenant: undefined }])(
    'takes everything only where that is said, not for the filter %j',
    (filter) => {
      expect(refused({ act: 'redrive', ...NAMED, filter })).toEqual(['filter']);
      expect(refused({ act: 'redrive', ...NAMED, filter, all: false })).toEqual(['filter']);
      expect(refused({ act: 'abandon', ...NAMED, filter })).toEqual(['filter']);
      expect(refused({ act: 'redrive', ...NAMED, filter, all: true })).toEqual([]);
    },
  );

  it.each([[], 'tenant=t1', 7, null])('refuses %j as a filter, and takes nothing for everything', (filter) => {
    expect(refused({ act: 'redrive', ...NAMED, filter })).toContain('filter');
    expect(refused({ act: 'list', filter })).toEqual(['filter']);
  });

  it('chooses in one way only', () => {
    const ways = { all: true, filter: { tenant: 't1' }, selection: 'd' };
    for (const left of ['all', 'filter', 'selection'] as const) {
      expect(refused({ act: 'redrive', ...NAMED, ...ways, [left]: undefined })).toEqual(['filter']);
    }
    expect(refused({ act: 'redrive', ...NAMED, ...ways })).toEqual(['filter']);
  });

  it('names a unit only together with its run', () => {
    expect(refused({ act: 'redrive', ...NAMED, filter: { unit: '3' } })).toEqual(['filter.unit']);
    expect(refused({ act: 'list', filter: { unit: '3' } })).toEqual(['filter.unit']);
    expect(refused({ act: 'inspect', unit: '3' })).toEqual(['run']);
    expect(refused({ act: 'inspect', run: RUN })).toEqual(['unit']);
  });

  it.each(['', '-1', '01', '1.', '.1', '1.01', '1.2.3', '1 ', 'a', '123456789', '1.12345', 3])(
    '%j is no unit',
    (unit) => {
      expect(refused({ act: 'inspect', run: RUN, unit })).toEqual(['unit']);
      expect(refused({ act: 'redrive', ...NAMED, filter: { run: RUN, unit } })).toContain('filter.unit');
    },
  );

  it('goes on only within a selection: elsewhere the same place is another unit', () => {
    expect(refused({ ...REDRIVE, from: 10 })).toEqual(['from']);
    expect(refused({ act: 'abandon', ...NAMED, filter: { tenant: 't1' }, from: 0 })).toEqual(['from']);
    expect(refused({ act: 'redrive', ...NAMED, selection: 'd', from: 10 })).toEqual([]);
  });

  it.each([
    ...[
      { ...REDRIVE, force: true },
      { act: 'pause', ...NAMED, run: RUN },
      { act: 'list', all: true },
    ],
    ...[
      { act: 'abandon', ...NAMED, all: true, perSecond: 1 },
      { act: 'cancel', ...NAMED, run: RUN, filter: {} },
    ],
  ])('refuses what it does not know rather than leave it out: %j', (event) => {
    expect(problemsOf(event)).toHaveLength(1);
    expect(problemsOf(event)[0]?.message).toMatch(/known: act, actor, reason/);
  });

  it('gives up a message alone: what else is asked for is refused, a dry run above all', () => {
    const message = { act: 'abandon', ...NAMED, message: 'abc' };
    expect(refused({ ...message, dryRun: true })).toEqual(['dryRun']);
    expect(refused({ ...message, all: true })).toEqual(['all']);
    expect(refused({ ...message, selection: 'd', limit: 1 })).toEqual(['selection', 'limit']);
  });

  it.each([
    [{ ...REDRIVE, limit: 10_001 }, 'limit'],
    [{ ...REDRIVE, perSecond: 1_001 }, 'perSecond'],
    [{ ...REDRIVE, perSecond: '5' }, 'perSecond'],
    [{ act: 'list', limit: 1_001 }, 'limit'],
    [{ act: 'list', filter: { olderThanHours: Number.NaN } }, 'filter.olderThanHours'],
    [{ act: 'list', filter: { tenant: '' } }, 'filter.tenant'],
    [{ act: 'abandon', ...NAMED, message: '' }, 'message'],
    [{ act: 'cancel', ...NAMED }, 'run'],
  ])('refuses %j', (event, parameter) => {
    expect(refused(event)).toEqual([parameter]);
  });
});

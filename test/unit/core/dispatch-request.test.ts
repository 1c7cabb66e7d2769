import { describe, expect, it } from 'vitest';
import { cutoffOf, newRun } from '../../../lib/core/plan/new-run.ts';
import { type DispatchRequest, RefusedRequest, readDispatchRequest } from '../../../lib/core/plan/request.ts';
import { testSettings } from '../../model/index.ts';

const NOW = Date.UTC(2026, 7, 10, 2, 0, 5);
const SCHEDULED = '2026-08-10T02:00:00Z';

function refusal(event: unknown): RefusedRequest {
  try {
    readDispatchRequest(event, NOW);
  } catch (error) {
    if (error instanceof RefusedRequest) return error;
    throw error;
  }
  throw new Error('was not refused');
}

describe('request of a dispatch', () => {
  it('takes the scheduled time and who started it', () => {
    const scheduledTime = Date.parse(SCHEDULED);
    expect(readDispatchRequest({ scheduledTime: SCHEDULED }, NOW)).toEqual({ scheduledTime, startedBy: 'schedule' });
    const startedBy = 'arn:aws:iam::1:user/eve';
    expect(readDispatchRequest({ scheduledTime: SCHEDULED, startedBy }, NOW).startedBy).toBe(startedBy);
    for (const nobody of ['', 7, null]) {
      expect(readDispatchRequest({ scheduledTime: SCHEDULED, startedBy: nobody }, NOW).startedBy).toBe('schedule');
    }
  });

  it('P6: takes a time of a day ago, and one ahead by no more than five minutes', () => {
    for (const ago of ['2026-08-09T02:00:05Z', '2025-01-01T00:00:00Z', '2026-08-10T02:05:05Z']) {
      expect(readDispatchRequest({ scheduledTime: ago }, NOW).scheduledTime).toBe(Date.parse(ago));
    }
    for (const ahead of ['2026-08-10T02:05:06Z', '2026-08-11T02:00:00Z', '2126-08-10T02:00:00Z']) {
      expect(refusal({ scheduledTime: ahead }).message).toMatch(/five minutes ahead.*Received "/);
    }
  });

  it('P6: the placeholder that a scheduler did not fill in is refused, and said to be one', () => {
    const refused = refusal({ scheduledTime: '<aws.scheduler.scheduled-time>' });
    expect(refused.message).toContain('placeholder');
    expect(refused.problems).toMatchObject([{ parameter: 'scheduledTime' }]);
  });

  it.each([
    ...['', 'now', 'today', '2026-08-10', '2026-08-10T02:00:00', '2026-08-10T04:00:00+02:00', '2026-02-30T02:00:00Z'],
    ...['1786327200', 1786327200000, null, undefined, {}, ['2026-08-10T02:00:00Z'], '2026-08-10T02:00:00.001Z'],
  ])('P6: the scheduled time %j is refused; there is no other clock to fall back on', (scheduledTime) => {
    expect(refusal({ scheduledTime }).message).toMatch(/^Refused, nothing was changed\. .*scheduledTime/);
  });

  it.each([
    undefined,
    null,
    'text',
    7,
    [],
    {},
    { time: SCHEDULED },
    { 'detail-type': 'Scheduled Event', time: SCHEDULED },
  ])('P6: the event %j, which names no scheduled time, is refused', (event) => {
    expect(refusal(event).problems).toHaveLength(1);
  });

  it('P6: the cutoff follows from the schedule alone, whenever and however often the event arrives', () => {
    const settings = testSettings({ retentionDays: '30' });
    const request: DispatchRequest = readDispatchRequest({ scheduledTime: SCHEDULED }, Date.UTC(2026, 7, 11, 1, 10));
    expect(cutoffOf(settings, request.scheduledTime)).toBe(Date.UTC(2026, 6, 11, 2));
    const runs = [NOW, NOW + 83_000_000].map((now) => newRun(settings, request, now));
    expect(runs.map(({ runId, cutoff }) => [runId, cutoff])).toEqual([
      ['accounts.v1.20260810T020000Z', Date.UTC(2026, 6, 11, 2)],
      ['accounts.v1.20260810T020000Z', Date.UTC(2026, 6, 11, 2)],
    ]);
  });

  it('P1: days are 24 hours of UTC, so a change of clocks moves no cutoff', () => {
    const settings = testSettings({ retentionDays: '1' });
    expect(cutoffOf(settings, Date.UTC(2026, 2, 9, 6, 30))).toBe(Date.UTC(2026, 2, 8, 6, 30));
    expect(cutoffOf(settings, Date.UTC(2026, 10, 2, 6, 30))).toBe(Date.UTC(2026, 10, 1, 6, 30));
  });
});

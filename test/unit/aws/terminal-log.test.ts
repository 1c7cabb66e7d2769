import type { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { describe, expect, it } from 'vitest';
import { flushedAfter } from '../../../lib/aws/process.ts';
import { TerminalLog } from '../../../lib/aws/terminal-log.ts';
import type { LogFields } from '../../../lib/core/ports/index.ts';

const PLENTY = { remainingMillis: () => 60_000 };
const T0 = Date.UTC(2026, 0, 31, 23, 59);

interface Sent {
  readonly name: string;
  readonly input: {
    readonly logGroupName: string;
    readonly logStreamName: string;
    readonly logEvents?: readonly { readonly timestamp: number; readonly message: string }[];
  };
}

/** A terminal log over a client that answers by command; undefined is an answer that says nothing. */
function logAnswering(answer: (name: string, calls: number) => unknown = () => undefined) {
  const sent: Sent[] = [];
  const client = {
    send: async (command: Sent & { readonly input: Sent['input'] }) => {
      sent.push({ name: command.constructor.name, input: command.input });
      const error = answer(command.constructor.name, sent.length);
      if (error !== undefined) throw error;
      return {};
    },
  } as unknown as CloudWatchLogsClient;
  const time = { now: T0 };
  const clock = { now: () => time.now };
  return { log: new TerminalLog({ client, clock, groupName: 'terminal', functionName: 'Consumer-1' }), sent, time };
}

function failing(name: string): Error {
  return Object.assign(new Error('marker'), { name });
}

function messagesOf(sent: readonly Sent[]): (readonly string[])[] {
  return sent.flatMap(({ input }) =>
    input.logEvents === undefined ? [] : [input.logEvents.map((one) => one.message)],
  );
}

describe('terminal log', () => {
  it('costs nothing where nothing ended', async () => {
    const { log, sent } = logAnswering();
    expect(await log.flush(PLENTY)).toEqual({ kind: 'flushed' });
    expect(sent).toEqual([]);
  });

  it('makes one stream per process, named by function and day, and sends each line once', async () => {
    const { log, sent } = logAnswering();
    log.add('a');
    log.add('b');
    expect(await log.flush(PLENTY)).toEqual({ kind: 'flushed' });
    log.add('c');
    await log.flush(PLENTY);
    expect(sent.map(({ name }) => name)).toEqual([
      'CreateLogStreamCommand',
      'PutLogEventsCommand',
      'PutLogEventsCommand',
    ]);
    expect(messagesOf(sent)).toEqual([['a', 'b'], ['c']]);
    const streams = new Set(sent.map(({ input }) => `${input.logGroupName} ${input.logStreamName}`));
    expect(streams.size).toBe(1);
    expect([...streams][0]).toMatch(/^terminal Consumer-1\/2026\/01\/31\/[0-9a-f-]{36}$/);
  });

  it('keeps to the order of time that the service demands, also where the clock was set back', async () => {
    const { log, sent, time } = logAnswering();
    log.add('later');
    time.now = T0 - 5_000;
    log.add('earlier');
    await log.flush(PLENTY);
    expect(sent[1]?.input.logEvents).toEqual([
      { timestamp: T0 - 5_000, message: 'earlier' },
      { timestamp: T0, message: 'later' },
    ]);
  });

  it('sends no more in one call than the service takes', async () => {
    const { log, sent } = logAnswering();
    for (let n = 0; n < 30; n += 1) log.add(`${n} ${'x'.repeat(100_000)}`);
    for (let n = 0; n < 6_000; n += 1) log.add('short');
    expect(await log.flush(PLENTY)).toEqual({ kind: 'flushed' });
    const calls = messagesOf(sent);
    expect(calls.flat()).toHaveLength(6_030);
    for (const call of calls) {
      expect(call.length).toBeLessThanOrEqual(10_000);
      const bytes = call.reduce((sum, message) => sum + Buffer.byteLength(message) + 26, 0);
      expect(bytes).toBeLessThanOrEqual(1_048_576);
    }
  });

  it('a stream that is there already is its own', async () => {
    const exists = failing('ResourceAlreadyExistsException');
    const { log, sent } = logAnswering((name) => (name === 'CreateLogStreamCommand' ? exists : undefined));
    log.add('a');
    expect(await log.flush(PLENTY)).toEqual({ kind: 'flushed' });
    expect(messagesOf(sent)).toEqual([['a']]);
  });

  it('keeps what could not be sent for the next time, and says so without throwing', async () => {
    const { log, sent } = logAnswering((_name, calls) =>
      calls === 1 ? failing('ServiceUnavailableException') : undefined,
    );
    log.add('a');
    expect(await log.flush(PLENTY)).toEqual({ kind: 'failed', error: 'ServiceUnavailableException', kept: 1, lost: 0 });
    log.add('b');
    expect(await log.flush(PLENTY)).toEqual({ kind: 'flushed' });
    expect(messagesOf(sent)).toEqual([['a', 'b']]);
  });

  it('sends nothing where the invocation has hardly time for its answer, and keeps it', async () => {
    const { log, sent } = logAnswering();
    log.add('a');
    const kept = { kind: 'failed', error: 'OutOfTime', kept: 1, lost: 0 };
    expect(await log.flush({ remainingMillis: () => 1_000 })).toEqual(kept);
    expect(sent).toEqual([]);
    await log.flush(PLENTY);
    expect(messagesOf(sent)).toEqual([['a']]);
  });

  it('holds no more in memory than a bound, the latest', async () => {
    const { log } = logAnswering(() => failing('AccessDeniedException'));
    for (let n = 0; n < 2_500; n += 1) log.add(String(n));
    expect(await log.flush(PLENTY)).toMatchObject({ kind: 'failed', kept: 2_000, lost: 500 });
    expect(await log.flush(PLENTY)).toMatchObject({ kind: 'failed', kept: 2_000, lost: 0 });
  });
});

describe('the end of an invocation', () => {
  const quiet = () => {
    const events: { readonly name: string; readonly fields: LogFields }[] = [];
    return {
      events,
      log: { event: (_level: string, name: string, fields: LogFields) => void events.push({ name, fields }) },
    };
  };

  it('flushes after the work, and also after work that failed', async () => {
    const { log, events } = quiet();
    const steps: string[] = [];
    const terminal = {
      flush: async () => {
        steps.push('flush');
        return { kind: 'flushed' } as const;
      },
    };
    expect(await flushedAfter(terminal, log, PLENTY, async () => steps.push('work'))).toBe(1);
    const broken = flushedAfter(terminal, log, PLENTY, () => Promise.reject(new TypeError('broken')));
    await expect(broken).rejects.toThrow('broken');
    expect(steps).toEqual(['work', 'flush', 'flush']);
    expect(events).toEqual([]);
  });

  it('a log that cannot be reached changes no answer and is only logged', async () => {
    const { log, events } = quiet();
    const terminal = { flush: async () => ({ kind: 'failed', error: 'TimeoutError', kept: 3, lost: 0 }) as const };
    expect(await flushedAfter(terminal, log, PLENTY, async () => 'answer')).toBe('answer');
    expect(events).toEqual([{ name: 'terminal_log_failed', fields: { errorClass: 'TimeoutError', kept: 3, lost: 0 } }]);
  });
});

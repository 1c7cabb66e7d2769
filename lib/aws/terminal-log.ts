import { randomUUID } from 'node:crypto';
import {
  type CloudWatchLogsClient,
  CreateLogStreamCommand,
  type InputLogEvent,
  PutLogEventsCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import type { EpochMillis } from '../core/identity/instant.ts';
import { PortError } from '../core/ports/failure.ts';
import type { Clock, Deadline } from '../core/ports/services.ts';
import { classify, portCall } from './errors.ts';

export interface TerminalLogPorts {
  readonly client: CloudWatchLogsClient;
  readonly clock: Pick<Clock, 'now'>;
  readonly groupName: string;
  readonly functionName: string;
}

/** How a flush ended; `kept` lines wait for the next one, `lost` were too many to wait. */
export type Flushed =
  | { readonly kind: 'flushed' }
  | { readonly kind: 'failed'; readonly error: string; readonly kept: number; readonly lost: number };

const OUT_OF_TIME = new PortError('terminalLog', { class: 'deferred', error: 'OutOfTime' });

interface Line {
  readonly at: EpochMillis;
  readonly message: string;
}

// One PutLogEvents takes 10,000 events and 1 MiB, each counted with 26 bytes more.
const EVENTS_PER_CALL = 5_000;
const BYTES_PER_CALL = 1_000_000;
const OVERHEAD_BYTES = 26;

/** What a flush may take; with less left, the invocation's answer is worth more. */
const FLUSH_MILLIS = 2_000;

/** What a log that cannot be reached may hold back in memory. */
const LINES_KEPT = 2_000;

/** Lines for the log group that outlives the routine ones, kept in memory until the invocation ends. */
export class TerminalLog {
  readonly #ports: TerminalLogPorts;
  readonly #streamName: string;
  #stream: 'none' | 'made' = 'none';
  #lines: Line[] = [];

  constructor(ports: TerminalLogPorts) {
    this.#ports = ports;
    this.#streamName = streamName(ports.functionName, ports.clock.now());
  }

  add(message: string): void {
    this.#lines.push({ at: this.#ports.clock.now(), message });
  }

  /** Sends what was added since the last flush that succeeded; costs no call where that is nothing. Never throws. */
  async flush(deadline: Deadline): Promise<Flushed> {
    try {
      while (this.#lines.length > 0) {
        if (deadline.remainingMillis() < FLUSH_MILLIS) throw OUT_OF_TIME;
        await this.#makeStream();
        const lines = firstCall(this.#lines);
        await this.#put(lines);
        this.#lines = this.#lines.slice(lines.length);
      }
      return { kind: 'flushed' };
    } catch (error) {
      const waiting = this.#lines.length;
      this.#lines = this.#lines.slice(-LINES_KEPT);
      const kept = this.#lines.length;
      return { kind: 'failed', error: classify(error).error, kept, lost: waiting - kept };
    }
  }

  async #makeStream(): Promise<void> {
    if (this.#stream === 'made') return;
    const { client, groupName: logGroupName } = this.#ports;
    const command = new CreateLogStreamCommand({ logGroupName, logStreamName: this.#streamName });
    try {
      await client.send(command);
    } catch (error) {
      // Our own, whose answer was lost: nobody else has this name.
      if (classify(error).error !== 'ResourceAlreadyExistsException') throw error;
    }
    this.#stream = 'made';
  }

  async #put(lines: readonly Line[]): Promise<void> {
    const { client, groupName: logGroupName } = this.#ports;
    // In order of time, as the service demands; a clock may have been set back.
    const logEvents: InputLogEvent[] = lines
      .map(({ at, message }) => ({ timestamp: at, message }))
      .sort((a, b) => a.timestamp - b.timestamp);
    const command = new PutLogEventsCommand({ logGroupName, logStreamName: this.#streamName, logEvents });
    await portCall('terminalLog', () => client.send(command));
  }
}

/** As Lambda names its own, with the function's name in front: all functions share the group. */
function streamName(functionName: string, now: EpochMillis): string {
  const day = new Date(now).toISOString().slice(0, 10).replaceAll('-', '/');
  return `${functionName}/${day}/${randomUUID()}`;
}

/** As many lines from the front as one call takes; at least one. */
function firstCall(lines: readonly Line[]): readonly Line[] {
  let bytes = 0;
  const taken = lines.slice(0, EVENTS_PER_CALL).findIndex(({ message }) => {
    bytes += Buffer.byteLength(message) + OVERHEAD_BYTES;
    return bytes > BYTES_PER_CALL;
  });
  return lines.slice(0, taken === -1 ? EVENTS_PER_CALL : Math.max(1, taken));
}

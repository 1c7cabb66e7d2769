import { Logger } from '@aws-lambda-powertools/logger';
import { type Log, TERMINAL_EVENTS } from '../core/ports/services.ts';
import type { TerminalLog } from './terminal-log.ts';

const SERVICE = 'ledgersweep';

/**
 * A log of structured events, one line of JSON each: a value with a newline stays on its line (pitfall P76). The
 * level comes from POWERTOOLS_LOG_LEVEL. Terminal events go to the terminal log too, whatever the level.
 */
export function createLog(common: Readonly<Record<string, string>> = {}, terminal?: Pick<TerminalLog, 'add'>): Log {
  const logger = new Logger({ serviceName: SERVICE, persistentKeys: { ...common } });
  return {
    event(level, name, fields) {
      logger[level](name, { ...fields });
      if (!TERMINAL_EVENTS.has(name)) return;
      terminal?.add(
        JSON.stringify({ level: level.toUpperCase(), message: name, service: SERVICE, ...common, ...fields }),
      );
    },
  };
}

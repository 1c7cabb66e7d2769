import { Logger } from '@aws-lambda-powertools/logger';
import type { Log } from '../core/ports/services.ts';

/**
 * A log of structured events, one line of JSON each: a value with a newline stays on its line (pitfall P76). The
 * level comes from POWERTOOLS_LOG_LEVEL.
 */
export function createLog(common: Readonly<Record<string, string>> = {}): Log {
  const logger = new Logger({ serviceName: 'ledgersweep', persistentKeys: { ...common } });
  return {
    event: (level, name, fields) => logger[level](name, { ...fields }),
  };
}

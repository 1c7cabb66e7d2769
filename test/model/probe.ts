import type { Problem } from '../../lib/core/policy/parse.ts';
import type { Settings } from '../../lib/core/policy/settings.ts';
import type { GrantProbe } from '../../lib/core/ports/index.ts';

/** Knows which writes the consumer's role may make; everything unless a test takes it away. */
export class MemoryProbe implements GrantProbe {
  readonly asked: Settings[] = [];
  #granted: ReadonlySet<Settings['action']> = new Set(['expire', 'delete']);

  /** From now on the consumer may do this and nothing else. */
  grantOnly(...actions: readonly Settings['action'][]): void {
    this.#granted = new Set(actions);
  }

  async missingGrants(settings: Settings): Promise<readonly Problem[]> {
    this.asked.push(settings);
    const { action, allowDelete, mode, recordTableName } = settings;
    const missing = (parameter: string, received: string, what: Settings['action']): readonly Problem[] => {
      if (this.#granted.has(what)) return [];
      const message = `${parameter} ${received}: the consumer may not ${what} records of ${recordTableName}. Received ${received}.`;
      return [{ parameter, received, message }];
    };
    return [
      ...missing('Mode', mode, 'expire'),
      ...(action === 'delete' ? missing('AllowDelete', allowDelete, 'delete') : []),
    ];
  }
}

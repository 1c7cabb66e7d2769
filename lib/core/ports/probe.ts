import type { Problem } from '../policy/parse.ts';
import type { Settings } from '../policy/settings.ts';

/** Asks the consumer, with its own role, whether its writes would be permitted; nothing is written. */
export interface GrantProbe {
  /** Empty where the grants suffice. Throws PortError where the consumer could not be asked. */
  missingGrants(settings: Settings): Promise<readonly Problem[]>;
}

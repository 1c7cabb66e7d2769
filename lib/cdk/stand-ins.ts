import { join } from 'node:path';
import { packageRoot } from './handler-entry.ts';

// Each module's stand-in says why the functions do without it.
const STAND_INS: Readonly<Record<string, string>> = {
  '@aws-sdk/credential-provider-node': 'credentials.ts',
  '@aws-sdk/endpoint-cache': 'endpoint-cache.ts',
  '@smithy/core/event-streams': 'event-streams.ts',
  '@aws-lambda-powertools/jmespath/functions': 'jmespath.ts',
  '@aws-lambda-powertools/jmespath': 'jmespath.ts',
};

/** Arguments of esbuild's `--alias`: modules of our dependencies that the bundles leave out, and what they get instead. */
export function standIns(): string[] {
  const folder = join(packageRoot(), 'lambdas', 'stand-ins');
  return Object.entries(STAND_INS).map(([module, file]) => `${module}=${join(folder, file)}`);
}

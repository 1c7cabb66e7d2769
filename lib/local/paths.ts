import { join, resolve } from 'node:path';

/** The checkout: where `cdk.json` and `node_modules` are. */
export const REPOSITORY = resolve(import.meta.dirname, '../..');

/** Everything that local runs make is in here, and git ignores it. */
export const LOCAL_HOME = join(REPOSITORY, '.local');

export const NODE_BIN = join(REPOSITORY, 'node_modules', '.bin');

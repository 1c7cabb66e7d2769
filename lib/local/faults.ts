import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  GetEventSourceMappingCommand,
  LambdaClient,
  ListEventSourceMappingsCommand,
  UpdateEventSourceMappingCommand,
} from '@aws-sdk/client-lambda';
import { clientConfig } from './access.ts';
import type { LocalAws } from './server.ts';
import { addVariables } from './variables.ts';
import { waitFor } from './wait.ts';

export interface Crash {
  readonly functionName: string;
  /** The call at which to crash, as its `x-amz-target`: `DynamoDB_20120810.BatchExecuteStatement`. */
  readonly target: string;
  /** Before: nothing was sent. After: the effect happened and the answer is lost. */
  readonly when: 'before' | 'after';
  /** Counted over all processes of the function, from 1. */
  readonly nth: number;
}

export interface ArmedCrash {
  /** Whether it has happened. It happens once. */
  happened(): boolean;
  /** Gives the function its own configuration back. */
  disarm(): Promise<void>;
}

// On AWS a mapping takes up to a minute.
const CHANGE_DEADLINE_SECONDS = 120;
const PRELOAD = pathToFileURL(join(import.meta.dirname, 'crash-once.mjs')).href;

/** Has a deployed function killed once, at one of its AWS calls, without anything in its code that knows of it. */
export async function armCrash(aws: LocalAws, crash: Crash): Promise<ArmedCrash> {
  const marker = join(aws.folder, `crash-${randomUUID().slice(0, 8)}`);
  const order = JSON.stringify({ target: crash.target, when: crash.when, nth: crash.nth, marker });
  const added = { NODE_OPTIONS: `--import ${PRELOAD}`, LOCAL_CRASH: order };
  const disarm = await addVariables(aws, crash.functionName, added);
  return { happened: () => existsSync(marker), disarm };
}

/** Stops or starts the feed from the queue to a function, and waits until that is so. */
export async function setFeed(aws: LocalAws, functionName: string, state: 'on' | 'off'): Promise<void> {
  const lambda = new LambdaClient(clientConfig(aws));
  const found = await lambda.send(new ListEventSourceMappingsCommand({ FunctionName: functionName }));
  const UUID = found.EventSourceMappings?.[0]?.UUID;
  if (UUID === undefined) throw new Error(`${functionName} is not fed by a queue.`);
  await lambda.send(new UpdateEventSourceMappingCommand({ UUID, Enabled: state === 'on' }));
  const wanted = state === 'on' ? 'Enabled' : 'Disabled';
  await waitFor(`the feed of ${functionName} to be ${state}`, CHANGE_DEADLINE_SECONDS * 1000, async () => {
    const now = await lambda.send(new GetEventSourceMappingCommand({ UUID }));
    return now.State === wanted ? true : undefined;
  });
}

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Implementation, implementationsOf, portNames, suiteOf } from './suites.ts';

const DYNAMO: readonly Implementation[] = ['model', 'local-aws', 'dynamodb-local'];
const SERVICE: readonly Implementation[] = ['model', 'local-aws'];
const PROCESS: readonly Implementation[] = ['model', 'process'];

/** A new port belongs here, with a suite and the implementations that it is run on. */
const RUNS_ON: Readonly<Record<string, readonly Implementation[]>> = {
  Admission: DYNAMO,
  Clock: PROCESS,
  Deadline: PROCESS,
  GrantProbe: SERVICE,
  Idempotency: DYNAMO,
  Intake: SERVICE,
  Ledger: DYNAMO,
  Log: SERVICE,
  Meter: DYNAMO,
  Queue: SERVICE,
  Random: PROCESS,
  RecordSource: DYNAMO,
  Resumer: SERVICE,
  Signer: SERVICE,
  Target: DYNAMO,
};

describe('the contract suites', () => {
  it('are there for every port of core', () => {
    expect(portNames()).toEqual(Object.keys(RUNS_ON).toSorted());
  });

  it.each(Object.entries(RUNS_ON))('of %s is run on %j', (port, implementations) => {
    const { file, call } = suiteOf(port);
    const path = join(import.meta.dirname, file);
    expect(existsSync(path), file).toBe(true);
    expect(readFileSync(path, 'utf8')).toContain(`export function ${call}(`);
    expect(implementationsOf(port)).toEqual(implementations);
  });

  it('are run on a model, whatever else', () => {
    for (const port of portNames()) expect(implementationsOf(port), port).toContain('model');
  });
});

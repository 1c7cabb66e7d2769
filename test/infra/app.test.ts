import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import cdkJson from '../../cdk.json' with { type: 'json' };
import { type FunctionName, handlerEntry, packageRoot } from '../../lib/cdk/handler-entry.ts';

describe('the package root', () => {
  it('is found from the sources and from the compiled files alike', () => {
    expect(packageRoot(join(packageRoot(), 'lib', 'cdk'))).toBe(packageRoot());
    expect(packageRoot(join(packageRoot(), 'dist', 'lib', 'cdk'))).toBe(packageRoot());
    expect(() => packageRoot('/')).toThrow('No package.json');
  });

  it('holds the handler of every function', () => {
    const names: readonly FunctionName[] = ['dispatcher', 'consumer', 'redrive', 'reconciler'];
    expect(names.filter((name) => !existsSync(handlerEntry(name)))).toEqual([]);
  });
});

describe('cdk.json', () => {
  it('calls nobody: no notices, no version report, no telemetry', () => {
    expect(cdkJson).toMatchObject({ versionReporting: false, notices: false, context: { 'cli-telemetry': false } });
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../lib/cdk/handler-entry.ts';
import { SETTING_KEYS, SETTINGS } from '../../lib/core/policy/settings.ts';
import { EFFECTS } from './parameter-effects.ts';
import { stackTemplate } from './synthesis.ts';

/** Made by the CDK for itself: the rule of the deployment reads it. */
const NOT_OURS = ['BootstrapVersion'];

const textOf = (file: string) => readFileSync(join(packageRoot(), file), 'utf8');

/** The title as a literal of its own, in any of the quotes. */
function hasTest(file: string, title: string): boolean {
  const text = textOf(file);
  return [`'${title}',`, `"${title}",`, `\`${title}\`,`].some((literal) => text.includes(literal));
}

describe('every parameter of the template', () => {
  it('is in the table of effects, and nothing else is', () => {
    const parameters = Object.keys(stackTemplate().toJSON().Parameters).filter((name) => !NOT_OURS.includes(name));
    const known = Object.keys(EFFECTS).map((key) => SETTINGS[key as keyof typeof EFFECTS].parameter);
    expect(known.sort()).toEqual(parameters.sort());
  });

  it.each(SETTING_KEYS)('is read by code: %s', (key) => {
    const { readBy } = EFFECTS[key];
    expect(readBy).toMatch(/^lib\/(core|aws|cdk)\//);
    expect(readBy).not.toMatch(/\/policy\/(settings|parse)\.ts$|\/(read-props|pipeline-props|setting-props)\.ts$/);
    expect(textOf(readBy)).toMatch(new RegExp(`\\b${key}\\b`));
  });

  it.each(SETTING_KEYS)('has a test that shows its effect: %s', (key) => {
    const { shownBy } = EFFECTS[key];
    expect(shownBy.length).toBeGreaterThan(0);
    expect(shownBy.filter(([file, title]) => !hasTest(file, title))).toEqual([]);
  });

  it('would be missed: a test that is not there is not found', () => {
    expect(hasTest('test/infra/effects.test.ts', 'Action: no right by itself')).toBe(true);
    expect(hasTest('test/infra/effects.test.ts', 'Action: no right')).toBe(false);
    expect(hasTest('test/infra/effects.test.ts', 'no right by itself')).toBe(false);
  });
});

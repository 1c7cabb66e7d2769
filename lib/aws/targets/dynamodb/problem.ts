import type { Problem } from '../../../core/policy/parse.ts';
import { SETTINGS, type SettingKey, type Settings } from '../../../core/policy/settings.ts';

/** A problem of one setting; `message` says what is wrong and ends with a full stop. */
export function problemOf(key: SettingKey, settings: Settings, message: string): Problem {
  const { parameter } = SETTINGS[key];
  const received = JSON.stringify(settings[key]);
  return { parameter, received, message: `${parameter}: ${message} Received ${received}.` };
}

/** An attribute's name for messages. */
export function named(attribute: string): string {
  return attribute === '' ? '(none)' : JSON.stringify(attribute);
}

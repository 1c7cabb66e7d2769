import { digestOf } from '../identity/encode.ts';
import { SETTING_KEYS, SETTINGS, type Settings } from './settings.ts';

/** Digest of the settings that decide which records are due and what happens to them; the same for any key order. */
export function policyDigest(settings: Settings): string {
  const meaning = SETTING_KEYS.filter((key) => SETTINGS[key].inPolicyDigest).sort();
  return digestOf(['policy', ...meaning.flatMap((key) => [key, String(settings[key])])]);
}

/** A comma-separated setting as a list; blank is the empty list. */
export function listOf(text: string): readonly string[] {
  return text === '' ? [] : text.split(',');
}

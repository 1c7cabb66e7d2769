import { Token } from 'aws-cdk-lib';
import type { SettingKey } from '../core/policy/settings.ts';

/** Every setting as text: literals from a construct's props, or tokens of CloudFormation parameters. */
export type SettingTexts = Readonly<Record<SettingKey, string>>;

/**
 * A setting's text where CloudFormation wants a number. A token stays the reference it is: arithmetic on it would put
 * its encoding, a huge negative number, into the template (pitfall P64).
 */
export function asNumber(text: string): number {
  return Token.isUnresolved(text) ? Token.asNumber(Token.asAny(text)) : Number(text);
}

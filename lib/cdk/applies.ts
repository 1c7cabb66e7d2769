import { CfnCondition, Fn, Token } from 'aws-cdk-lib';
import type { Construct } from 'constructs';

/** When a part of the template is there: decided at synthesis where the setting is known, else at deployment. */
export type Applies = 'always' | 'never' | CfnCondition;

/** Applies where the setting's text is another one than `value`. */
export function whereNot(scope: Construct, id: string, text: string, value: string): Applies {
  if (!Token.isUnresolved(text)) return text === value ? 'never' : 'always';
  return new CfnCondition(scope, id, { expression: Fn.conditionNot(Fn.conditionEquals(text, value)) });
}

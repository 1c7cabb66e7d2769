import { Aws, CfnCondition, Fn, Token } from 'aws-cdk-lib';
import type { Construct } from 'constructs';

/** When a part of the template is there: decided at synthesis where the setting is known, else at deployment. */
export type Applies = 'always' | 'never' | CfnCondition;

/** Applies where the setting's text is this value and no other. */
export function whereIs(scope: Construct, id: string, text: string, value: string): Applies {
  if (!Token.isUnresolved(text)) return text === value ? 'always' : 'never';
  return new CfnCondition(scope, id, { expression: Fn.conditionEquals(text, value) });
}

/** Applies where the setting's text is another one than `value`. */
export function whereNot(scope: Construct, id: string, text: string, value: string): Applies {
  if (!Token.isUnresolved(text)) return text === value ? 'never' : 'always';
  return new CfnCondition(scope, id, { expression: Fn.conditionNot(Fn.conditionEquals(text, value)) });
}

/** Applies where both do. */
export function whereBoth(scope: Construct, id: string, first: Applies, second: Applies): Applies {
  if (first === 'never' || second === 'never') return 'never';
  if (first === 'always') return second;
  if (second === 'always') return first;
  return new CfnCondition(scope, id, { expression: Fn.conditionAnd(first, second) });
}

/** The text of a property that is left out of its resource where this does not apply. */
export function textWhere(applies: Applies, text: string): string | undefined {
  if (applies === 'never') return undefined;
  return applies === 'always' ? text : Fn.conditionIf(applies.logicalId, text, Aws.NO_VALUE).toString();
}

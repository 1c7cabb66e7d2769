import { CfnRule, Fn, type ICfnConditionExpression } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { RELATIONS, relationSentence } from '../core/policy/relations.ts';
import { SETTINGS, type SettingKey } from '../core/policy/settings.ts';
import type { SettingTexts } from './setting-texts.ts';

/** The relations that CloudFormation can compare, checked before it touches a resource. */
export function addRelationRules(scope: Construct, texts: SettingTexts): void {
  const isNot = (key: SettingKey, value: string): ICfnConditionExpression =>
    Fn.conditionNot(Fn.conditionEquals(texts[key], value));
  for (const relation of RELATIONS) {
    if (relation.kind !== 'requires') continue;
    new CfnRule(scope, `${SETTINGS[relation.first].parameter}Rule`, {
      ruleCondition: isNot(relation.first, relation.unless),
      assertions: [{ assert: isNot(relation.second, relation.not), assertDescription: relationSentence(relation) }],
    });
  }
  new CfnRule(scope, 'DifferentRule', {
    assertions: RELATIONS.filter(({ kind }) => kind === 'differ').map((relation) => ({
      assert: Fn.conditionNot(Fn.conditionEquals(texts[relation.first], texts[relation.second])),
      assertDescription: relationSentence(relation),
    })),
  });
}

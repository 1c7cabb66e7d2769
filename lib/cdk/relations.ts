import { CfnRule, Fn, type ICfnConditionExpression } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { SETTINGS, type SettingKey } from '../core/policy/settings.ts';
import type { SettingTexts } from './setting-texts.ts';

/** What two settings must be to each other. CloudFormation rules can compare for equality and presence only. */
interface Relation {
  readonly kind: 'differ' | 'requires';
  readonly first: SettingKey;
  readonly second: SettingKey;
  readonly reason: string;
}

// An expiry writes these three; writing over a key, the witness or the tenant would change what the record is.
const WRITTEN: readonly SettingKey[] = ['stateAttribute', 'expiredAtAttribute', 'operationKeyAttribute'];
const KEPT: readonly SettingKey[] = [
  'partitionKeyAttribute',
  'sortKeyAttribute',
  'timestampAttribute',
  'tenantAttribute',
];

const RELATIONS: readonly Relation[] = [
  {
    kind: 'requires',
    first: 'indexPartitionValues',
    second: 'recordIndexName',
    reason: 'the values are partition keys of that index',
  },
  {
    kind: 'differ',
    first: 'eligibleState',
    second: 'expiredState',
    reason: 'an expired record would be due again',
  },
  ...WRITTEN.flatMap((first, at) =>
    [...KEPT, ...WRITTEN.slice(at + 1)].map(
      (second): Relation => ({ kind: 'differ', first, second, reason: 'an expiry would overwrite it' }),
    ),
  ),
];

function sentence({ kind, first, second, reason }: Relation): string {
  const verb = kind === 'differ' ? 'must differ from' : 'needs';
  return `${SETTINGS[first].parameter} ${verb} ${SETTINGS[second].parameter}: ${reason}.`;
}

/** Sentences for the relations that these literal texts break. */
export function brokenRelations(texts: SettingTexts): readonly string[] {
  const holds = ({ kind, first, second }: Relation) =>
    kind === 'differ' ? texts[first] !== texts[second] : texts[first] === '' || texts[second] !== '';
  return RELATIONS.filter((relation) => !holds(relation)).map(sentence);
}

/** The same relations for parameters, checked by CloudFormation before it touches a resource. */
export function addRelationRules(scope: Construct, texts: SettingTexts): void {
  const given = (key: SettingKey): ICfnConditionExpression => Fn.conditionNot(Fn.conditionEquals(texts[key], ''));
  for (const relation of RELATIONS.filter(({ kind }) => kind === 'requires')) {
    new CfnRule(scope, `${SETTINGS[relation.first].parameter}Rule`, {
      ruleCondition: given(relation.first),
      assertions: [{ assert: given(relation.second), assertDescription: sentence(relation) }],
    });
  }
  new CfnRule(scope, 'DifferentRule', {
    assertions: RELATIONS.filter(({ kind }) => kind === 'differ').map((relation) => ({
      assert: Fn.conditionNot(Fn.conditionEquals(texts[relation.first], texts[relation.second])),
      assertDescription: sentence(relation),
    })),
  });
}

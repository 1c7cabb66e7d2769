import type { Problem } from '../../../core/policy/parse.ts';
import { SETTINGS, type SettingKey, type Settings } from '../../../core/policy/settings.ts';
import { carries, type IndexFacts, type KeyFacts, type TableFacts } from './describe.ts';
import { holdAttributes } from './guard.ts';
import { partitionValues } from './partition-values.ts';
import type { KeyType } from './values.ts';

/** What is wrong between the settings and the record table as it is; nothing may be planned until it is mended. */
export function tableProblems(table: TableFacts, settings: Settings): readonly Problem[] {
  return [
    ...keyProblems(table, settings),
    ...writeProblems(table, settings),
    ...indexProblems(table, settings),
    ...queryProblems(table, settings),
  ];
}

function problem(key: SettingKey, settings: Settings, message: string): Problem {
  const { parameter } = SETTINGS[key];
  return { parameter, received: JSON.stringify(settings[key]), message: `${parameter}: ${message}` };
}

function keyProblems(table: TableFacts, settings: Settings): readonly Problem[] {
  const name = (role: KeyFacts['role']) => table.keys.find((key) => key.role === role)?.name ?? '';
  const check = (key: 'partitionKeyAttribute' | 'sortKeyAttribute', role: KeyFacts['role']) =>
    settings[key] === name(role)
      ? []
      : [problem(key, settings, `the ${role} key of the table ${table.name} is ${named(name(role))}.`)];
  return [...check('partitionKeyAttribute', 'partition'), ...check('sortKeyAttribute', 'sort')];
}

/** Attributes that an expiry writes must be its own: no key, no other part of the policy, of the type an index needs. */
function writeProblems(table: TableFacts, settings: Settings): readonly Problem[] {
  const timestampType: KeyType = settings.timestampFormat === 'iso-8601' ? 'S' : 'N';
  const written = [
    ['stateAttribute', 'S'],
    ['expiredAtAttribute', timestampType],
    ['operationKeyAttribute', 'S'],
  ] as const;
  const read = [settings.timestampAttribute, settings.tenantAttribute, ...holdAttributes(settings)];
  return written.flatMap(([key, type]) => {
    const name = settings[key];
    const others = written.filter(([other]) => other !== key).map(([other]) => settings[other]);
    const index = table.indexes.find(({ keys }) => keys.some((k) => k.name === name && k.type !== type));
    const reasons = [
      table.keys.some((k) => k.name === name) && 'a key of the table cannot be changed.',
      others.includes(name) && `an expiry also writes another value to ${named(name)}.`,
      read.includes(name) && `${named(name)} is also the timestamp, the tenant or a hold.`,
      index !== undefined && `the index ${index.name} needs another type of ${named(name)}.`,
    ];
    return reasons.flatMap((reason) => (reason === false ? [] : [problem(key, settings, reason)]));
  });
}

function indexProblems(table: TableFacts, settings: Settings): readonly Problem[] {
  if (settings.recordIndexName === '') return [];
  const index = discoveryIndex(table, settings);
  if (index === undefined) {
    return [problem('recordIndexName', settings, `the table ${table.name} has no index of this name.`)];
  }
  const needed = [settings.stateAttribute, settings.timestampAttribute, settings.tenantAttribute];
  const missing = needed.filter((name) => name !== '' && !carries(table, index, name));
  return [
    ...(index.complete ? [] : [problem('recordIndexName', settings, 'the index is still being built or removed.')]),
    ...missing.map((name) => problem('recordIndexName', settings, `the index does not carry ${named(name)}.`)),
  ];
}

function queryProblems(table: TableFacts, settings: Settings): readonly Problem[] {
  if (settings.indexPartitionValues === '') return [];
  const say = (message: string) => [problem('indexPartitionValues', settings, message)];
  const index = discoveryIndex(table, settings);
  if (index === undefined) return say('partition values need an index to be queried.');
  const [partition, sort] = index.keys;
  if (partition === undefined || sort?.role !== 'sort' || sort.name !== settings.timestampAttribute) {
    return say(`the index ${index.name} must have one partition key and be sorted by the timestamp.`);
  }
  if (sort.type !== (settings.timestampFormat === 'iso-8601' ? 'S' : 'N')) {
    return say(`the index ${index.name} is sorted by a type that timestamps of this format do not have.`);
  }
  if (partitionValues(settings, partition.type) === undefined) {
    return say(`not every value fits the partition key ${named(partition.name)} of type ${partition.type}.`);
  }
  return [];
}

export function discoveryIndex(table: TableFacts, settings: Settings): IndexFacts | undefined {
  return table.indexes.find((index) => index.name === settings.recordIndexName);
}

function named(attribute: string): string {
  return attribute === '' ? '(none)' : JSON.stringify(attribute);
}

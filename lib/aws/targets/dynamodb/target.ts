import type { Target } from '../../../core/ports/target.ts';
import { DynamoStatementTarget } from './statement-target.ts';
import type { TargetOptions } from './target-options.ts';
import { DynamoUpdateTarget } from './update-target.ts';

/** `batch-execute`: 25 conditional statements per call. `update-item`: a call for each record. */
export type TargetVariant = 'batch-execute' | 'update-item';

/** A DynamoDB table as a target; both variants mean the same. */
export function targetOf(variant: TargetVariant, options: TargetOptions): Target {
  return variant === 'batch-execute' ? new DynamoStatementTarget(options) : new DynamoUpdateTarget(options);
}

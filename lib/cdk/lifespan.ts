import { RemovalPolicy } from 'aws-cdk-lib';
import type { Construct } from 'constructs';

const CONTEXT_KEY = 'ledgersweep:throwAway';

/** What happens to the data when its stack is deleted. */
export interface Lifespan {
  readonly removalPolicy: RemovalPolicy;
  readonly deletionProtection: boolean;
}

/**
 * Tables and logs outlive their stack. Only the CDK context `ledgersweep:throwAway=true`, never a parameter, makes a
 * stack that takes its data with it: a console form is no place to lose a ledger.
 */
export function lifespanOf(scope: Construct): Lifespan {
  const context: unknown = scope.node.tryGetContext(CONTEXT_KEY);
  switch (context) {
    case true:
    case 'true':
      return { removalPolicy: RemovalPolicy.DESTROY, deletionProtection: false };
    case undefined:
    case false:
    case 'false':
      return { removalPolicy: RemovalPolicy.RETAIN, deletionProtection: true };
    default:
      throw new Error(`Context ${CONTEXT_KEY} must be true or false; received ${JSON.stringify(context)}.`);
  }
}

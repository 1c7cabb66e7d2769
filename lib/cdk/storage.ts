import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, BillingMode, ProjectionType, Table, type TableProps } from 'aws-cdk-lib/aws-dynamodb';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { lifespanOf } from './lifespan.ts';

/** Sparse index of the units that need someone or something. */
export const OPEN_INDEX = 'open';

/** Epoch seconds after which DynamoDB may remove an item of the ledger. */
const LEDGER_EXPIRY = 'expiresAt';

/** What a list, an age or the publisher reads off an open unit without going to its item. */
const OPEN_ATTRIBUTES = [
  'state',
  'status',
  'reason',
  'errorClass',
  'tenant',
  'generation',
  'notBefore',
  'since',
  'runId',
  'unit',
  'records',
  'attempts',
  'failureClass',
  'copiedAt',
  'copiedGeneration',
];

const text = (name: string) => ({ name, type: AttributeType.STRING });

function tableProps(scope: Construct): Omit<TableProps, 'partitionKey'> {
  return {
    billingMode: BillingMode.PAY_PER_REQUEST,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    ...lifespanOf(scope),
  };
}

/**
 * The ledger. An item goes by itself once the end that its writer gave it has passed: plans, outcomes and reports of
 * closed runs after the ledger retention. What is open, and what the policy as a whole needs, is given none.
 */
export function addLedgerTable(scope: Construct): Table {
  const table = new Table(scope, 'LedgerTable', {
    partitionKey: text('pk'),
    sortKey: text('sk'),
    timeToLiveAttribute: LEDGER_EXPIRY,
    ...tableProps(scope),
  });
  table.addGlobalSecondaryIndex({
    indexName: OPEN_INDEX,
    partitionKey: text('openShard'),
    sortKey: text('openSort'),
    projectionType: ProjectionType.INCLUDE,
    nonKeyAttributes: OPEN_ATTRIBUTES,
  });
  return table;
}

/** The idempotency records, in the attribute names that Powertools expects. */
export function addIdempotencyTable(scope: Construct): Table {
  return new Table(scope, 'IdempotencyTable', {
    partitionKey: text('id'),
    timeToLiveAttribute: 'expiration',
    ...tableProps(scope),
  });
}

/**
 * Where terminal events outlive the routine ones: quarantines, closed and cancelled runs, people's acts with the hashes
 * of the audit trail.
 */
export function addTerminalLog(scope: Construct, retentionDays: number): LogGroup {
  return new LogGroup(scope, 'TerminalLog', {
    retention: retentionDays,
    removalPolicy: lifespanOf(scope).removalPolicy,
  });
}

/**
 * The ring of signing keys: `current` names the key that signs. It goes with its stack, as the queues do, so no
 * message is left that it could verify. Changing what is generated here would make a new ring and orphan every
 * message in flight.
 */
export function addSigningSecret(scope: Construct): Secret {
  return new Secret(scope, 'SigningSecret', {
    description: 'Ledgersweep: keys that sign batch references.',
    generateSecretString: {
      secretStringTemplate: JSON.stringify({ current: 'k1' }),
      generateStringKey: 'k1',
      passwordLength: 64,
      excludePunctuation: true,
    },
    removalPolicy: RemovalPolicy.DESTROY,
  });
}

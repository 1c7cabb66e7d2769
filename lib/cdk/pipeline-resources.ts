import { CfnMapping, Duration } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { ManagedPolicy } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { CfnSchedule } from 'aws-cdk-lib/aws-scheduler';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { MESSAGES_PER_EVENT, TIME_BUDGETS, type TimeBudget } from '../core/policy/budget.ts';
import { environmentName, SETTING_KEYS } from '../core/policy/settings.ts';
import { whereBoth, whereIs, whereNot } from './applies.ts';
import {
  type Grantables,
  grantConsumer,
  grantDispatcher,
  grantIntake,
  grantReconciler,
  grantRedrive,
} from './grants.ts';
import { addPeoplePolicies } from './people.ts';
import { addQueues, type Queues } from './queues.ts';
import { addDispatchSchedule, addReconcileSchedule } from './schedules.ts';
import { asNumber, type SettingTexts } from './setting-texts.ts';
import { addIdempotencyTable, addLedgerTable, addSigningSecret, addTerminalLog } from './storage.ts';
import { SweepFunction } from './sweep-function.ts';

const DISPATCHER_RETRIES = 2;
/** Three tries of fifteen minutes and the waits between them. */
const DISPATCHER_EVENT_AGE = Duration.hours(2);

/** Everything a pipeline is made of, from settings as text. Their form has been checked, or CloudFormation does it. */
export class PipelineResources extends Construct {
  readonly settings: SettingTexts;
  readonly ledgerTable: Table;
  readonly idempotencyTable: Table;
  readonly queues: Queues;
  readonly signingSecret: Secret;
  /** Outlives the functions' own logs: what ended, and what people did. */
  readonly terminalLog: LogGroup;
  readonly dispatcher: SweepFunction;
  readonly consumer: SweepFunction;
  readonly redrive: SweepFunction;
  readonly reconciler: SweepFunction;
  readonly consumerMapping: EventSourceMapping;
  readonly schedule: CfnSchedule;
  /** For people who look: everything `sweep` reads. Attach it to a role or a group. */
  readonly readerPolicy: ManagedPolicy;
  /** For people who act: the reader's rights, and to invoke the redrive function and the dispatcher. */
  readonly operatorPolicy: ManagedPolicy;

  constructor(scope: Construct, id: string, settings: SettingTexts) {
    super(scope, id);
    this.settings = settings;
    const budget = this.addTimeBudget(settings.batchTimeBudgetSeconds);
    const grantables = this.addStores(budget.visibilityTimeoutSeconds);
    this.ledgerTable = grantables.ledger;
    this.idempotencyTable = grantables.idempotency;
    this.queues = grantables.queues;
    this.signingSecret = grantables.signingSecret;
    this.terminalLog = grantables.terminalLog;

    // The dispatcher asks the consumer what it may do, so it comes second; nothing of the consumer knows of it.
    this.consumer = this.addConsumer(grantables, budget.functionTimeoutSeconds);
    this.dispatcher = this.addDispatcher(grantables);
    this.consumerMapping = this.addConsumerMapping();
    this.redrive = this.addRedrive(grantables);
    this.reconciler = this.addReconciler(grantables);
    this.schedule = addDispatchSchedule(this, this.dispatcher.function, this.queues.missedStarts, settings);
    addReconcileSchedule(this, this.reconciler.function);
    const people = addPeoplePolicies(this, this);
    this.readerPolicy = people.reader;
    this.operatorPolicy = people.operator;
  }

  /** The times that follow from one setting, looked up at deployment because CloudFormation cannot multiply. */
  private addTimeBudget(budgetSeconds: string): Record<keyof TimeBudget, Duration> {
    const rows = Object.entries(TIME_BUDGETS).map(([budget, times]) => [
      budget,
      Object.fromEntries(Object.entries(times).map(([name, seconds]) => [name, String(seconds)])),
    ]);
    const table = new CfnMapping(this, 'TimeBudgets', { mapping: Object.fromEntries(rows) });
    const seconds = (name: keyof TimeBudget) => Duration.seconds(asNumber(table.findInMap(budgetSeconds, name)));
    return {
      functionTimeoutSeconds: seconds('functionTimeoutSeconds'),
      visibilityTimeoutSeconds: seconds('visibilityTimeoutSeconds'),
    };
  }

  private addStores(visibilityTimeout: Duration): Grantables {
    const { recordIndexName, mode, allowDelete } = this.settings;
    const mayWriteRecords = whereNot(this, 'MayWriteRecords', mode, 'report-only');
    const deletionAllowed = whereIs(this, 'DeletionAllowed', allowDelete, 'yes');
    return {
      settings: this.settings,
      ledger: addLedgerTable(this),
      idempotency: addIdempotencyTable(this),
      queues: addQueues(this, visibilityTimeout),
      signingSecret: addSigningSecret(this),
      terminalLog: addTerminalLog(this, asNumber(this.settings.terminalLogRetentionDays)),
      indexGiven: whereNot(this, 'IndexGiven', recordIndexName, ''),
      mayWriteRecords,
      mayDeleteRecords: whereBoth(this, 'MayDeleteRecords', mayWriteRecords, deletionAllowed),
    };
  }

  private addDispatcher(grantables: Grantables): SweepFunction {
    const { queues } = grantables;
    const dispatcher = new SweepFunction(this, 'Dispatcher', {
      logRetentionDays: asNumber(this.settings.logRetentionDays),
      name: 'dispatcher',
      description: 'Ledgersweep: plans a run, freezes the plan and publishes it.',
      memoryMebibytes: 1024,
      timeout: Duration.minutes(15),
      environment: this.environment({
        WORK_QUEUE_URL: queues.work.queueUrl,
        CONSUMER_FUNCTION: this.consumer.function.functionName,
      }),
    });
    grantDispatcher(dispatcher, this.consumer, grantables);
    dispatcher.function.configureAsyncInvoke({
      retryAttempts: DISPATCHER_RETRIES,
      maxEventAge: DISPATCHER_EVENT_AGE,
      onFailure: { bind: () => ({ destination: queues.missedStarts.queueArn }) },
    });
    return dispatcher;
  }

  private addConsumer(grantables: Grantables, timeout: Duration): SweepFunction {
    const { idempotency, queues } = grantables;
    const consumer = new SweepFunction(this, 'Consumer', {
      logRetentionDays: asNumber(this.settings.logRetentionDays),
      name: 'consumer',
      description: 'Ledgersweep: applies the batches of a plan, one conditional write per record.',
      memoryMebibytes: 512,
      timeout,
      environment: this.environment({
        IDEMPOTENCY_TABLE: idempotency.tableName,
        WORK_QUEUE_URL: queues.work.queueUrl,
        DEAD_LETTER_QUEUE_URL: queues.deadLetter.queueUrl,
      }),
    });
    grantConsumer(consumer, grantables);
    return consumer;
  }

  private addRedrive(grantables: Grantables): SweepFunction {
    const { queues } = grantables;
    const redrive = new SweepFunction(this, 'Redrive', {
      logRetentionDays: asNumber(this.settings.logRetentionDays),
      name: 'redrive',
      description: "Ledgersweep: the only door for a person's acts. Invoke it by hand; nothing else does.",
      memoryMebibytes: 512,
      timeout: Duration.minutes(15),
      environment: this.environment({
        WORK_QUEUE_URL: queues.work.queueUrl,
        DEAD_LETTER_QUEUE_URL: queues.deadLetter.queueUrl,
        CONSUMER_MAPPING_ID: this.consumerMapping.eventSourceMappingId,
      }),
    });
    grantRedrive(redrive, grantables);
    grantIntake(redrive, this.consumerMapping);
    // An act is asked for once; Lambda must not ask again by itself.
    redrive.function.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
    return redrive;
  }

  private addReconciler(grantables: Grantables): SweepFunction {
    const { queues } = grantables;
    const reconciler = new SweepFunction(this, 'Reconciler', {
      logRetentionDays: asNumber(this.settings.logRetentionDays),
      name: 'reconciler',
      description: 'Ledgersweep: resumes lapsed dispatches, publishes what is due, closes runs.',
      memoryMebibytes: 512,
      timeout: Duration.minutes(5),
      environment: this.environment({
        WORK_QUEUE_URL: queues.work.queueUrl,
        DEAD_LETTER_QUEUE_URL: queues.deadLetter.queueUrl,
        DISPATCHER_FUNCTION: this.dispatcher.function.functionName,
        CONSUMER_MAPPING_ID: this.consumerMapping.eventSourceMappingId,
      }),
    });
    grantReconciler(reconciler, this.dispatcher, grantables);
    grantIntake(reconciler, this.consumerMapping);
    // The next scheduled pass does the work of a failed one.
    reconciler.function.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(5) });
    return reconciler;
  }

  /** No filter, which would acknowledge what it does not match (P39); a limit here, not on the function (P31). */
  private addConsumerMapping(): EventSourceMapping {
    return new EventSourceMapping(this, 'ConsumerMapping', {
      target: this.consumer.function,
      eventSourceArn: this.queues.work.queueArn,
      batchSize: MESSAGES_PER_EVENT,
      maxBatchingWindow: Duration.seconds(0),
      maxConcurrency: asNumber(this.settings.consumerConcurrency),
      reportBatchItemFailures: true,
    });
  }

  /** The settings, the three things that every function uses, and what this one needs besides. */
  private environment(more: Readonly<Record<string, string>>): Record<string, string> {
    return {
      ...Object.fromEntries(SETTING_KEYS.map((key) => [environmentName(key), this.settings[key]])),
      LEDGER_TABLE: this.ledgerTable.tableName,
      SIGNING_SECRET_ARN: this.signingSecret.secretArn,
      TERMINAL_LOG_GROUP: this.terminalLog.logGroupName,
      ...more,
    };
  }
}

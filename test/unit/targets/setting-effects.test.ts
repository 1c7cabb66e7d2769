import { describe, expect, it } from 'vitest';
import { recordGuard } from '../../../lib/aws/targets/dynamodb/guard.ts';
import { recordStatement } from '../../../lib/aws/targets/dynamodb/statement.ts';
import type { SettingKey } from '../../../lib/core/policy/settings.ts';
import { callOf, workItem } from './fixture.ts';

function statementUnder(overrides: Partial<Record<SettingKey, string>>, key = '["Sa"]') {
  const item = { ...workItem('a'), key };
  const { Statement = '', Parameters } = recordStatement(callOf([item], overrides), item, recordGuard);
  return { text: Statement, values: Parameters?.map((value) => value.S ?? value.N) ?? [] };
}

describe('what a setting changes in the write of a record', () => {
  it('RecordTableName: the table', () => {
    expect(statementUnder({ recordTableName: 'my.orders' }).text).toMatch(/^UPDATE "my\.orders" SET /);
  });

  it('PartitionKeyAttribute and SortKeyAttribute: by which key the record is found', () => {
    const names = { partitionKeyAttribute: 'owner', sortKeyAttribute: 'number' };
    const { text, values } = statementUnder(names, '["Sada","N7"]');
    expect(text).toMatch(/ WHERE "owner" = \? AND "number" = \? AND /);
    expect(values.slice(3, 5)).toEqual(['ada', '7']);
  });

  it('StateAttribute, ExpiredAtAttribute and OperationKeyAttribute: what is written', () => {
    const names = { stateAttribute: 'phase', expiredAtAttribute: 'endedAt', operationKeyAttribute: 'endedBy' };
    expect(statementUnder(names).text).toContain(' SET "phase" = ?, "endedAt" = ?, "endedBy" = ? WHERE ');
  });

  it('EligibleState, ExpiredState and TimestampFormat: the values written and asked for', () => {
    const { values } = statementUnder({
      eligibleState: 'IDLE',
      expiredState: 'GONE',
      timestampFormat: 'epoch-seconds',
    });
    expect(values.slice(0, 2)).toEqual(['GONE', '1767232805']);
    expect(values).toContain('IDLE');
  });

  it('TimestampAttribute and HoldAttributes: what the condition asks of the record', () => {
    const { text } = statementUnder({ timestampAttribute: 'seenAt', holdAttributes: 'legal,dispute' });
    for (const part of ['"seenAt" = ?', '"legal" IS NOT MISSING', '"dispute" IS NOT MISSING']) {
      expect(text).toContain(part);
    }
  });
});

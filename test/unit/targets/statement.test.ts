import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expiryUpdate } from '../../../lib/aws/targets/dynamodb/expression.ts';
import { expiryGuard } from '../../../lib/aws/targets/dynamodb/guard.ts';
import { expiryStatement } from '../../../lib/aws/targets/dynamodb/statement.ts';
import { callOf, workItem } from './fixture.ts';

const ODD_NAMES = {
  recordTableName: 'my.records',
  sortKeyAttribute: '',
  timestampAttribute: 'ttl',
  stateAttribute: 'status',
  holdAttributes: 'a.b,x-y',
};

describe('the statement of an expiry', () => {
  it('is one update with the whole condition in it', () => {
    const { Statement, Parameters, ReturnValuesOnConditionCheckFailure } = expiryStatement(
      callOf([], { holdAttributes: 'hold' }),
      workItem('a'),
      expiryGuard,
    );
    expect(Statement).toBe(
      'UPDATE "accounts-table" SET "status" = ?, "expiredAt" = ?, "sweepOperationKey" = ? ' +
        'WHERE "id" = ? AND "status" = ? AND "lastActivity" = ? ' +
        'AND NOT ("hold" IS NOT MISSING AND "hold" IS NOT NULL AND NOT ("hold" = ?) AND NOT ("hold" = ?)) ' +
        'AND NOT ("sweepOperationKey" = ?)',
    );
    expect(Parameters).toEqual([
      { S: 'EXPIRED' },
      { S: '2026-01-01T02:00:05.250Z' },
      { S: 'operation-a' },
      { S: 'a' },
      { S: 'ACTIVE' },
      { S: '2021-06-01T12:00:00Z' },
      { BOOL: false },
      { S: '' },
      { S: 'operation-a' },
    ]);
    expect(ReturnValuesOnConditionCheckFailure).toBe('ALL_OLD');
  });

  it('P74: no value stands in its text, and every name is quoted', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (id) => {
        const { Statement = '', Parameters = [] } = expiryStatement(callOf([], ODD_NAMES), workItem(id), expiryGuard);
        const names = /"[A-Za-z0-9_.-]+"/g;
        const words = new Set(
          Statement.replace(names, '')
            .split(/[\s(),=?]+/)
            .filter((word) => word !== ''),
        );
        expect([...words].sort()).toEqual(['AND', 'IS', 'MISSING', 'NOT', 'NULL', 'SET', 'UPDATE', 'WHERE']);
        expect(Statement.match(/\?/g)).toHaveLength(Parameters.length);
      }),
    );
  });

  it('P74: a name that could end its quotes never becomes a statement', () => {
    const call = callOf([]);
    const settings = { ...call.settings, stateAttribute: 'x" = ? OR "y' };
    expect(() => expiryStatement({ ...call, settings }, workItem('a'), expiryGuard)).toThrow(/cannot be quoted/);
  });

  it('fits the 8,192 characters of a statement even with the longest names', () => {
    const long = (n: number) => `${n}`.repeat(255);
    const settings = {
      recordTableName: long(1),
      partitionKeyAttribute: long(2),
      sortKeyAttribute: long(3),
      timestampAttribute: long(4),
      stateAttribute: long(5),
      expiredAtAttribute: long(6),
      operationKeyAttribute: long(7),
      holdAttributes: Array.from({ length: 8 }, (_, n) => `${n}`.repeat(124)).join(','),
    };
    const item = { ...workItem('a'), key: '["Sa","N1"]' };
    expect(expiryStatement(callOf([], settings), item, expiryGuard).Statement?.length).toBeLessThan(8_192);
  });

  it('refuses for good a key or a witness that is none', () => {
    const permanent = expect.objectContaining({ failure: expect.objectContaining({ class: 'permanent' }) });
    for (const broken of [{ key: 'a' }, { witness: '' }, { witness: 'Xa' }]) {
      expect(() => expiryStatement(callOf([]), { ...workItem('a'), ...broken }, expiryGuard)).toThrow(permanent);
    }
  });
});

describe('the expression of an expiry', () => {
  it('P74: holds numbered placeholders and nothing that was configured', () => {
    const update = expiryUpdate(callOf([], ODD_NAMES), workItem('a'), expiryGuard);
    expect(update.ConditionExpression).toBe(
      '#n0 = :v3 AND #n3 = :v4 ' +
        'AND NOT (attribute_exists(#n4) AND NOT (attribute_type(#n4, :v5)) AND NOT (#n4 = :v6) AND NOT (#n4 = :v7)) ' +
        'AND NOT (attribute_exists(#n5) AND NOT (attribute_type(#n5, :v8)) AND NOT (#n5 = :v9) AND NOT (#n5 = :v10)) ' +
        'AND NOT (#n2 = :v11)',
    );
    expect(update.UpdateExpression).toBe('SET #n0 = :v0, #n1 = :v1, #n2 = :v2');
    expect(Object.values(update.ExpressionAttributeNames ?? {})).toEqual([
      'status',
      'expiredAt',
      'sweepOperationKey',
      'ttl',
      'a.b',
      'x-y',
    ]);
  });
});

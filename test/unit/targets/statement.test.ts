import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deletion, expiryUpdate } from '../../../lib/aws/targets/dynamodb/expression.ts';
import { recordGuard } from '../../../lib/aws/targets/dynamodb/guard.ts';
import { recordStatement } from '../../../lib/aws/targets/dynamodb/statement.ts';
import { callOf, deletionItem, deletionOf, workItem } from './fixture.ts';

const ODD_NAMES = {
  recordTableName: 'my.records',
  sortKeyAttribute: '',
  timestampAttribute: 'ttl',
  stateAttribute: 'status',
  holdAttributes: 'a.b,x-y',
};

describe('the statement of an expiry', () => {
  it('is one update with the whole condition in it', () => {
    const { Statement, Parameters, ReturnValuesOnConditionCheckFailure } = recordStatement(
      callOf([], { holdAttributes: 'hold' }),
      workItem('a'),
      recordGuard,
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
        const { Statement = '', Parameters = [] } = recordStatement(callOf([], ODD_NAMES), workItem(id), recordGuard);
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
    expect(() => recordStatement({ ...call, settings }, workItem('a'), recordGuard)).toThrow(/cannot be quoted/);
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
    expect(recordStatement(callOf([], settings), item, recordGuard).Statement?.length).toBeLessThan(8_192);
  });

  it('refuses for good a key or a witness that is none', () => {
    const permanent = expect.objectContaining({ failure: expect.objectContaining({ class: 'permanent' }) });
    for (const broken of [{ key: 'a' }, { witness: '' }, { witness: 'Xa' }]) {
      expect(() => recordStatement(callOf([]), { ...workItem('a'), ...broken }, recordGuard)).toThrow(permanent);
    }
  });
});

describe('the expression of an expiry', () => {
  it('P74: holds numbered placeholders and nothing that was configured', () => {
    const update = expiryUpdate(callOf([], ODD_NAMES), workItem('a'), recordGuard);
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

describe('the statement of a deletion', () => {
  it('P73: is one delete with the whole condition in it, and returns what was there', () => {
    const { Statement, Parameters, ReturnValuesOnConditionCheckFailure } = recordStatement(
      deletionOf([], { holdAttributes: 'hold,dispute' }),
      deletionItem('a'),
      recordGuard,
    );
    expect(Statement).toBe(
      'DELETE FROM "accounts-table" ' +
        'WHERE "id" = ? AND "status" = ? AND "expiredAt" = ? AND "sweepOperationKey" = ? ' +
        'AND NOT ("hold" IS NOT MISSING AND "hold" IS NOT NULL AND NOT ("hold" = ?) AND NOT ("hold" = ?)) ' +
        'AND NOT ("dispute" IS NOT MISSING AND "dispute" IS NOT NULL AND NOT ("dispute" = ?) AND NOT ("dispute" = ?)) ' +
        'RETURNING ALL OLD *',
    );
    expect(Parameters).toEqual([
      { S: 'a' },
      { S: 'EXPIRED' },
      { S: '2026-01-01T02:00:05.250Z' },
      { S: 'earlier:a' },
      { BOOL: false },
      { S: '' },
      { BOOL: false },
      { S: '' },
    ]);
    expect(ReturnValuesOnConditionCheckFailure).toBe('ALL_OLD');
  });

  it('P74: no value stands in its text, and every name is quoted', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (id) => {
        const call = deletionOf([], ODD_NAMES);
        const { Statement = '', Parameters = [] } = recordStatement(call, deletionItem(id), recordGuard);
        const words = Statement.replace(/"[A-Za-z0-9_.-]+"/g, '')
          .split(/[\s(),=?]+/)
          .filter((word) => word !== '');
        expect([...new Set(words)].sort()).toEqual(
          ['*', 'ALL', 'AND', 'DELETE', 'FROM', 'IS', 'MISSING', 'NOT', 'NULL', 'OLD', 'RETURNING', 'WHERE'].sort(),
        );
        expect(Statement.match(/\?/g)).toHaveLength(Parameters.length);
      }),
    );
  });

  it('P45: refuses for good a witness that is not of a deletion', () => {
    const permanent = expect.objectContaining({ failure: expect.objectContaining({ class: 'permanent' }) });
    const witnesses = ['', 'S2026-01-01T02:00:05.250Z', '[]', '["Sa"]', '["Sa",""]', '["Sa","Sb","Sc"]', '{"0":"Sa"}'];
    for (const witness of witnesses) {
      const item = { ...deletionItem('a'), witness };
      expect(() => recordStatement(deletionOf([]), item, recordGuard)).toThrow(permanent);
    }
    const undo = { ...deletionOf([]), kind: 'undo' as const };
    expect(() => recordStatement(undo, deletionItem('a'), recordGuard)).toThrow(permanent);
  });
});

describe('the expression of a deletion', () => {
  it('P74: holds numbered placeholders and nothing that was configured', () => {
    const input = deletion(deletionOf([], { ...ODD_NAMES, holdAttributes: 'a.b' }), deletionItem('a'), recordGuard);
    expect(input.ConditionExpression).toBe(
      '#n0 = :v0 AND #n1 = :v1 AND #n2 = :v2 ' +
        'AND NOT (attribute_exists(#n3) AND NOT (attribute_type(#n3, :v3)) AND NOT (#n3 = :v4) AND NOT (#n3 = :v5))',
    );
    expect(Object.values(input.ExpressionAttributeNames ?? {})).toEqual([
      'status',
      'expiredAt',
      'sweepOperationKey',
      'a.b',
    ]);
    expect(input).toMatchObject({ ReturnValues: 'ALL_OLD', ReturnValuesOnConditionCheckFailure: 'ALL_OLD' });
  });
});

type Fields = Readonly<Record<string, unknown>>;

// What the meter needs to see in an answer. A caller's own choice wins.
const CAPACITY: Fields = { ReturnConsumedCapacity: 'TOTAL' };
const FIELDS: Readonly<Record<string, Fields>> = {
  GetItemCommand: CAPACITY,
  BatchGetItemCommand: CAPACITY,
  QueryCommand: CAPACITY,
  ScanCommand: CAPACITY,
  PutItemCommand: CAPACITY,
  UpdateItemCommand: { ...CAPACITY, ReturnValues: 'ALL_NEW' },
  DeleteItemCommand: { ...CAPACITY, ReturnValues: 'ALL_OLD' },
  BatchWriteItemCommand: CAPACITY,
  TransactWriteItemsCommand: CAPACITY,
  BatchExecuteStatementCommand: CAPACITY,
};

/** The input with the fields by which the answer can be priced. */
export function withMeteredFields(command: string, input: object): object {
  const conditional = 'ConditionExpression' in input ? { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } : {};
  const fields = FIELDS[command];
  return fields === undefined ? input : { ...fields, ...conditional, ...input };
}

/** What work cost: calls to AWS and DynamoDB request units, as the meter counted them. */
export interface Cost {
  readonly calls: number;
  readonly readUnits: number;
  readonly writeUnits: number;
}

export const NO_COST: Cost = { calls: 0, readUnits: 0, writeUnits: 0 };

export function addCost(a: Cost, b: Cost): Cost {
  return {
    calls: a.calls + b.calls,
    readUnits: a.readUnits + b.readUnits,
    writeUnits: a.writeUnits + b.writeUnits,
  };
}

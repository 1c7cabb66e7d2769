import { BatchGetItemCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { PortError } from '../../core/ports/failure.ts';
import type { Clock, Random } from '../../core/ports/services.ts';
import { portCall } from '../errors.ts';
import type { Attributes } from '../item-size.ts';
import { Placeholders } from './expression.ts';

const MAX_CALLS = 5;
const FIRST_WAIT_MILLIS = 50;

export interface BatchGetPorts {
  readonly client: DynamoDBClient;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Reads distinct keys, strongly consistent, in one call and as few more as the service leaves keys unprocessed for.
 * Keys that stay unprocessed are a transient PortError, never an absence (pitfall P27). `projected`: the attributes
 * wanted, where not all are.
 */
export async function batchGet(
  { client, clock, random }: BatchGetPorts,
  operation: string,
  table: string,
  keys: readonly Attributes[],
  projected?: readonly string[],
): Promise<readonly Attributes[]> {
  const found: Attributes[] = [];
  let remaining = [...keys];
  for (let call = 1; call <= MAX_CALLS; call += 1) {
    const request = { RequestItems: { [table]: { Keys: remaining, ConsistentRead: true, ...projection(projected) } } };
    const answer = await portCall(operation, () => client.send(new BatchGetItemCommand(request)));
    found.push(...(answer.Responses?.[table] ?? []));
    remaining = answer.UnprocessedKeys?.[table]?.Keys ?? [];
    if (remaining.length === 0) return found;
    if (call < MAX_CALLS) await clock.sleep(random.next() * FIRST_WAIT_MILLIS * 2 ** call);
  }
  throw new PortError(operation, { class: 'transient', error: 'UnprocessedKeys' });
}

function projection(attributes: readonly string[] | undefined) {
  if (attributes === undefined) return {};
  const at = new Placeholders();
  const ProjectionExpression = attributes.map((attribute) => at.name(attribute)).join(', ');
  return { ProjectionExpression, ...at.fields() };
}

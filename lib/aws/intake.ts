import type { LambdaClient } from '@aws-sdk/client-lambda';
import type { Intake } from '../core/ports/services.ts';
import { portCall } from './errors.ts';
import { UpdateEventSourceMappingCommand } from './lambda.ts';

/**
 * The consumer's event source mapping. Lambda takes up to a minute to follow, and refuses the change of a mapping that
 * it is just changing: that is transient.
 */
export class MappingIntake implements Intake {
  readonly #client: LambdaClient;
  readonly #mappingId: string;

  /** `mappingId`: the mapping's UUID. */
  constructor(client: LambdaClient, mappingId: string) {
    this.#client = client;
    this.#mappingId = mappingId;
  }

  async set(state: 'on' | 'off'): Promise<void> {
    const command = new UpdateEventSourceMappingCommand({ UUID: this.#mappingId, Enabled: state === 'on' });
    await portCall('intake', () => this.#client.send(command));
  }
}

/**
 * Stands in for `@smithy/core/event-streams`. No operation that we call has an event stream, yet the SDK imports this
 * module both statically and dynamically: esbuild then keeps all of it, with every export of what it imports.
 */
export class EventStreamSerde {
  constructor() {
    throw new Error('Event streams are left out of the bundle (lambdas/stand-ins)');
  }
}

/** Called when a client is made, so it may not throw; what it returns is used by event streams only. */
export const eventStreamSerdeProvider = (): undefined => undefined;

export const resolveEventStreamSerdeConfig = <T>(config: T): T => config;

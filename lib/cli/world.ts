import type { Clock, Ledger, Queue } from '../core/ports/index.ts';
import type { RecordLookup } from '../core/read/record-now.ts';
import type { PipelineOutputs } from './outputs.ts';

/** What a function answered. `failed`: it threw; the type is the error's name. */
export type Answer =
  | { readonly kind: 'answered'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly errorType: string; readonly errorMessage: string };

/** The deployed functions, as a person may invoke them. */
export interface Functions {
  /** Invokes and waits for the answer; never twice. */
  call(functionName: string, event: object): Promise<Answer>;
  /** Hands the event over; returns when it is accepted. */
  start(functionName: string, event: object): Promise<void>;
}

/** A deployed pipeline as the commands see it. */
export interface Pipeline {
  readonly outputs: PipelineOutputs;
  readonly ledger: Ledger;
  /** How much lies in the queues; no message is touched. */
  readonly queue: Pick<Queue, 'depth'>;
  readonly records: RecordLookup;
  readonly functions: Functions;
  /** ARN of whoever runs the command. */
  caller(): Promise<string>;
}

/** Everything outside the process that a command touches. */
export interface CliWorld {
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Results, and nothing else. */
  out(text: string): void;
  /** Progress, messages and questions. */
  err(text: string): void;
  /** Shows one line in place of the one before; absent where nobody is watching. */
  readonly status?: ((line: string) => void) | undefined;
  /** Asks a person; absent where nobody can answer. */
  readonly ask?: ((question: string) => Promise<string>) | undefined;
  connect(stackName: string): Promise<Pipeline>;
}

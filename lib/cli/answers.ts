import { REFUSED } from '../core/plan/request.ts';
import { CliError, EXIT } from './exit.ts';
import type { Pipeline } from './world.ts';

/** Invokes the redrive function and gives its answer; throws a CliError where it refused or failed. */
export function askRedrive<T extends object>(pipeline: Pipeline, event: object): Promise<T> {
  return ask(pipeline, pipeline.outputs.redriveFunctionName, event);
}

/** Invokes a function and gives its answer; throws a CliError where it refused or failed. */
export async function ask<T extends object>({ functions }: Pipeline, name: string, event: object): Promise<T> {
  const answer = await functions.call(name, event);
  if (answer.kind === 'answered') {
    if (typeof answer.value === 'object' && answer.value !== null) return answer.value as T;
    throw new CliError(EXIT.failed, `Function ${name} answered with nothing that is an answer: see its log.`);
  }
  const { errorType, errorMessage } = answer;
  // Lambda names the error; the local AWS has one name for all.
  if (errorType === 'RefusedRequest' || errorMessage.startsWith(REFUSED))
    throw new CliError(EXIT.refused, errorMessage);
  throw new CliError(EXIT.failed, `Function ${name} failed with ${errorType}: ${errorMessage} See its log.`);
}

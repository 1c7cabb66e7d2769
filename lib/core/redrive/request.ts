import { RefusedRequest } from '../plan/request.ts';
import type { Problem } from '../policy/parse.ts';

/** What a person may ask of the redrive function. */
export type RedriveRequest =
  | { readonly act: 'list' }
  | { readonly act: 'redrive'; readonly actor: string; readonly reason: string };

const MAX_TEXT = 500;

function problem(parameter: string, received: unknown, message: string): Problem {
  const text = received === undefined ? '(nothing)' : JSON.stringify(received);
  return { parameter, received: text, message: `${message} Received ${text}.` };
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '' && value.length <= MAX_TEXT;
}

/** Reads the function's event. A redrive needs an actor and a reason, and says `all` since it takes everything. */
export function readRedriveRequest(event: unknown): RedriveRequest {
  const request = (typeof event === 'object' && event !== null ? event : {}) as Record<string, unknown>;
  if (request.act === 'list') return { act: 'list' };
  if (request.act !== 'redrive') {
    throw new RefusedRequest([problem('act', request.act, 'act must be "list" or "redrive".')]);
  }
  const { actor, reason, all } = request;
  const problems: Problem[] = [];
  if (!isName(actor))
    problems.push(problem('actor', actor, `actor must say who acts, in 1 to ${MAX_TEXT} characters.`));
  if (!isName(reason)) problems.push(problem('reason', reason, `reason must say why, in 1 to ${MAX_TEXT} characters.`));
  if (all !== true) problems.push(problem('all', all, 'This redrive brings back everything: say so with "all": true.'));
  if (!isName(actor) || !isName(reason) || problems.length > 0) throw new RefusedRequest(problems);
  return { act: 'redrive', actor: actor.trim(), reason: reason.trim() };
}

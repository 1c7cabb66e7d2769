import { CliError, EXIT } from './exit.ts';
import type { Session } from './session.ts';

/** Throws a CliError where an act would have to be confirmed and nobody can. */
export function assertConfirmable(session: Session, act: string): void {
  if (session.world.ask !== undefined) return;
  throw new CliError(EXIT.usage, `${act} has to be confirmed, and this is no terminal: say --yes where it is meant.`);
}

/** Lets a person confirm what was said; throws a CliError where the answer is not yes. */
export async function confirm(session: Session, what: string): Promise<void> {
  session.say(what);
  const answer = (await session.world.ask?.('Go on? Type yes: ')) ?? '';
  if (answer.trim().toLowerCase() !== 'yes') throw new CliError(EXIT.refused, 'Nothing was done.');
}

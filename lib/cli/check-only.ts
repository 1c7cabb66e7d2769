import { type EpochMillis, formatInstant } from '../core/identity/instant.ts';
import type { Problem } from '../core/policy/parse.ts';
import type { PreflightView } from '../core/views.ts';
import { ask } from './answers.ts';
import { CliError, EXIT, type ExitCode } from './exit.ts';
import { renderPreflight } from './render/preflight.ts';
import type { Session } from './session.ts';
import type { Pipeline } from './world.ts';

/** What the dispatcher says to `preflight: true`. */
interface PreflightAnswer {
  readonly kind: 'preflight';
  readonly problems: readonly Problem[];
}

/** Has the dispatcher check a scheduled time and start nothing. Ends as refused where a run would be. */
export async function checkOnly(
  session: Session,
  pipeline: Pipeline,
  { runId, scheduledTime }: { readonly runId: string; readonly scheduledTime: EpochMillis },
): Promise<ExitCode> {
  const name = pipeline.outputs.dispatcherFunctionName;
  const event = { scheduledTime: formatInstant(scheduledTime), startedBy: await pipeline.caller(), preflight: true };
  const answer = await ask<Partial<PreflightAnswer>>(pipeline, name, event);
  const { kind, problems } = answer;
  if (kind !== 'preflight' || problems === undefined) {
    throw new CliError(
      EXIT.failed,
      `Function ${name} is of another version and knows no preflight: see \`sweep runs\`.`,
    );
  }
  const view: PreflightView = { runId, scheduledTime: event.scheduledTime, problems };
  session.print(view, renderPreflight);
  return problems.length === 0 ? EXIT.done : EXIT.refused;
}

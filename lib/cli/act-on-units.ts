import type { ActView } from '../core/redrive/views.ts';
import { askRedrive } from './answers.ts';
import { choiceOf, type UnitOptions } from './choose-units.ts';
import { assertConfirmable, confirm } from './confirm.ts';
import { CliError, EXIT, type ExitCode } from './exit.ts';
import { renderAct, renderSelected, sayLeftOut } from './render/acts.ts';
import { bar } from './render/bar.ts';
import type { Session } from './session.ts';
import type { Pipeline } from './world.ts';

export interface ActOptions extends UnitOptions {
  readonly reason?: string;
  readonly yes?: true;
  readonly dryRun?: true;
  /** Units per second. */
  readonly rate?: number;
  readonly beyondGenerationCap?: true;
}

type UnitsAct = ActView['act'];

/** Units that one call of the function moves: seconds, so that the bar moves and no answer is waited for long. */
const UNITS_PER_CALL = 500;

const CONSEQUENCE: Readonly<Record<UnitsAct, string>> = {
  redrive: 'These units come back and are tried again.',
  abandon: 'These units are given up for good: their records stay as they are, and the run counts them as skipped.',
};

/** The reason of an act; throws a CliError where there is none. */
export function reasonOf(reason: string | undefined, act: string): string {
  const text = reason?.trim() ?? '';
  if (text === '') throw new CliError(EXIT.usage, `${act} needs a reason, for the audit trail: --reason "…".`);
  return text;
}

/** Calls the function again and again until nothing of the selection is left. */
async function moveAll(session: Session, pipeline: Pipeline, event: object, preview: ActView): Promise<ActView> {
  const { selection, selected } = preview;
  let done: ActView = { ...preview, dryRun: false, units: [] };
  let next: number | null = 0;
  while (next !== null) {
    const { paceEndsAt } = done;
    const call = { ...event, selection, limit: UNITS_PER_CALL, from: next };
    const paced = paceEndsAt === null || next === 0 ? call : { ...call, startAt: paceEndsAt };
    const part: ActView = await askRedrive<ActView>(pipeline, paced);
    done = {
      ...part,
      units: [...done.units, ...part.units],
      leftOut: preview.leftOut,
      truncated: preview.truncated,
      moved: done.moved + part.moved,
      alreadyMoved: done.alreadyMoved + part.alreadyMoved,
      published: done.published + part.published,
      deleted: done.deleted + part.deleted,
      paceEndsAt: part.paceEndsAt ?? done.paceEndsAt,
    };
    next = part.next;
    session.world.status?.(bar(selected - part.left, selected, 'units'));
  }
  session.world.status?.('');
  return done;
}

/** Who lost the answer of a call does not know what it did; the same selection finishes it, and moves nothing twice. */
async function finishable(act: UnitsAct, selection: string, body: () => Promise<ActView>): Promise<ActView> {
  try {
    return await body();
  } catch (error) {
    if (error instanceof CliError && error.exitCode === EXIT.refused) throw error;
    const what = error instanceof Error ? error.message : String(error);
    const help = `Run it again with --selection ${selection}: it goes on where it stopped, and moves nothing twice.`;
    throw new CliError(EXIT.partly, `The ${act} was not finished, or its answer was lost: ${what} ${help}`, error);
  }
}

/**
 * Redrives or abandons: freezes the selection by a dry run, shows it, has it confirmed, and then holds every call to
 * that selection.
 */
export async function actOnUnits(session: Session, act: UnitsAct, options: ActOptions): Promise<ExitCode> {
  const choice = choiceOf(options);
  const reason = options.dryRun ? '' : reasonOf(options.reason, `A${act === 'abandon' ? 'n' : ''} ${act}`);
  if (!options.dryRun && !options.yes) assertConfirmable(session, `A${act === 'abandon' ? 'n' : ''} ${act}`);
  const pipeline = await session.pipeline();
  const beyond = options.beyondGenerationCap ? { beyondGenerations: true } : {};
  const preview = await askRedrive<ActView>(pipeline, { act, ...choice, ...beyond, dryRun: true });
  if (options.dryRun || preview.selected === 0) {
    session.print(preview, renderSelected);
    for (const line of sayLeftOut(preview)) session.say(line);
    return preview.selected === 0 ? EXIT.nothing : EXIT.done;
  }
  if (!options.yes) {
    session.say(renderSelected(preview).trimEnd());
    for (const line of sayLeftOut(preview)) session.say(line);
    await confirm(session, CONSEQUENCE[act]);
  }
  const rate = options.rate === undefined ? {} : { perSecond: options.rate };
  const event = { act, actor: await pipeline.caller(), reason, ...rate, ...beyond };
  const done = await finishable(act, preview.selection, () => moveAll(session, pipeline, event, preview));
  session.print(done, renderAct);
  return judge(session, done);
}

function judge(session: Session, { act, moved, published, truncated, alreadyMoved }: ActView): ExitCode {
  if (truncated) session.say('More matched than one selection holds: run it again for the rest.');
  if (alreadyMoved > 0) session.say(`${alreadyMoved} of the selected units had been moved before.`);
  if (act === 'redrive' && published < moved) {
    session.say(
      'What is not in the work queue yet is sent by the reconciler when it is due, unless the policy is paused.',
    );
  }
  if (moved === 0) return EXIT.nothing;
  return truncated ? EXIT.partly : EXIT.done;
}

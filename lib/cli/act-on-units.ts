import { formatInstant } from '../core/identity/instant.ts';
import { isActText, MAX_TEXT } from '../core/redrive/request.ts';
import type { ActView } from '../core/redrive/views.ts';
import { askRedrive } from './answers.ts';
import { choiceOf, type UnitOptions, withKnownRun } from './choose-units.ts';
import { assertConfirmable, confirm } from './confirm.ts';
import { CliError, EXIT, type ExitCode } from './exit.ts';
import { moveAll } from './move-all.ts';
import { renderAct, renderSelected, sayLeftOut } from './render/acts.ts';
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

const CONSEQUENCE: Readonly<Record<UnitsAct, string>> = {
  redrive: 'These units come back and are tried again.',
  abandon: 'These units are given up for good: their records stay as they are, and the run counts them as skipped.',
};

/** The reason of an act; throws a CliError where there is none. */
export function reasonOf(reason: string | undefined, act: string): string {
  const text = reason?.trim() ?? '';
  if (text === '') throw new CliError(EXIT.usage, `${act} needs a reason, for the audit trail: --reason "…".`);
  if (!isActText(text)) {
    const received = `Received ${text.length} characters.`;
    throw new CliError(EXIT.usage, `--reason is a text of at most ${MAX_TEXT} characters. ${received}`);
  }
  return text;
}

/**
 * Redrives or abandons: freezes the selection by a dry run, shows it, has it confirmed, and then holds every call to
 * that selection.
 */
export async function actOnUnits(session: Session, act: UnitsAct, options: ActOptions): Promise<ExitCode> {
  // What is wrong with the flags is said before anything is looked for.
  choiceOf(options);
  const reason = options.dryRun ? '' : reasonOf(options.reason, `A${act === 'abandon' ? 'n' : ''} ${act}`);
  if (!options.dryRun && !options.yes) assertConfirmable(session, `A${act === 'abandon' ? 'n' : ''} ${act}`);
  const pipeline = await session.pipeline();
  const choice = choiceOf(await withKnownRun(pipeline, options));
  const beyond = options.beyondGenerationCap ? { beyondGenerations: true } : {};
  const rate = options.rate === undefined ? {} : { perSecond: options.rate };
  const preview = await askRedrive<ActView>(pipeline, { act, ...choice, ...rate, ...beyond, dryRun: true });
  const shown = (view: ActView) => renderSelected(view, options.rate);
  if (options.dryRun || preview.selected === 0) {
    session.print(preview, shown);
    sayPreview(session, preview);
    if (preview.selected === 0) sayWhyNone(session, options);
    return preview.selected === 0 ? EXIT.nothing : EXIT.done;
  }
  if (!options.yes) {
    session.say(shown(preview).trimEnd());
    sayPreview(session, preview);
    await confirm(session, CONSEQUENCE[act]);
  }
  const event = { act, actor: await pipeline.caller(), reason, ...rate, ...beyond };
  const done = await moveAll(session, pipeline, event, preview);
  session.print(done, renderAct);
  return judge(session, pipeline, preview, done);
}

/** What the selection does not hold, although it was asked for. */
function sayPreview(session: Session, { leftOut, truncated, selected }: ActView): void {
  if (truncated) session.say(`More matched than one selection holds: these are ${selected} of them.`);
  for (const line of sayLeftOut(leftOut)) session.say(line);
}

/** A unit that goes on by itself, or is done, is no quarantined one; whoever named it wants to know which. */
function sayWhyNone(session: Session, { run, unit }: ActOptions): void {
  if (unit !== undefined) session.say(`How unit ${unit} stands says: sweep inspect ${run} ${unit}`);
}

async function judge(session: Session, pipeline: Pipeline, preview: ActView, done: ActView): Promise<ExitCode> {
  const { act, selected, moved, published, truncated, alreadyMoved, leftOut } = done;
  for (const line of sayLeftOut(leftOut)) session.say(line);
  if (truncated) session.say('More matched than one selection holds: run it again for the rest.');
  if (alreadyMoved > 0) session.say(`${alreadyMoved} of the ${selected} selected units had been moved before.`);
  if (act === 'redrive' && published < moved) {
    session.say(await sayUnsent(pipeline));
  }
  if (moved === 0) return EXIT.nothing;
  // Selected, and held back since by what its run or its units have come to.
  const heldBack = countLeftOut(leftOut) > countLeftOut(preview.leftOut);
  return truncated || heldBack ? EXIT.partly : EXIT.done;
}

async function sayUnsent({ ledger, outputs }: Pipeline): Promise<string> {
  const { pause } = await ledger.readControl(outputs.policyId);
  if (pause === undefined) return 'What is not in the work queue yet is sent by the reconciler when it is due.';
  const since = `since ${formatInstant(pause.at)} by ${pause.actor}`;
  return `The policy is paused ${since}: what is not in the work queue yet is sent once it is resumed.`;
}

function countLeftOut({ permanent, generations, cancelledRun }: ActView['leftOut']): number {
  return permanent + generations + cancelledRun;
}

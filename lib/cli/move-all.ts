import type { ActView, LeftOut } from '../core/redrive/views.ts';
import { askRedrive } from './answers.ts';
import { CliError, EXIT } from './exit.ts';
import { describeError } from './problems.ts';
import { bar } from './render/bar.ts';
import type { Session } from './session.ts';
import type { Pipeline } from './world.ts';

/** Units that one call of the function moves: seconds, so that the bar moves and no answer is waited for long. */
const UNITS_PER_CALL = 500;

export function addLeftOut(a: LeftOut, b: LeftOut): LeftOut {
  return {
    permanent: a.permanent + b.permanent,
    generations: a.generations + b.generations,
    cancelledRun: a.cancelledRun + b.cancelledRun,
  };
}

/** What the calls before, and the dry run, said together with one more answer. */
function add(done: ActView, part: ActView): ActView {
  return {
    ...part,
    selected: done.selected,
    units: [...done.units, ...part.units],
    moved: done.moved + part.moved,
    alreadyMoved: done.alreadyMoved + part.alreadyMoved,
    leftOut: addLeftOut(done.leftOut, part.leftOut),
    truncated: done.truncated,
    published: done.published + part.published,
    deleted: done.deleted + part.deleted,
    paceEndsAt: part.paceEndsAt ?? done.paceEndsAt,
  };
}

/** Who lost the answer of a call does not know what it did; the same selection finishes it, and moves nothing twice. */
function unfinished({ act, selection, selected }: ActView, from: number, why: string): CliError {
  const what = `The ${act} was not finished, or an answer was lost, after ${from} of ${selected} units: ${why}`;
  const help = `Run the same command with --selection ${selection}: it goes on where it stopped, and moves nothing twice.`;
  return new CliError(EXIT.partly, `${what} ${help}`);
}

/**
 * Calls the function again and again until nothing of the previewed selection is left, and adds the answers up. Throws
 * a CliError where a call fails: as refused where nothing was done, else as partly done.
 */
export async function moveAll(session: Session, pipeline: Pipeline, event: object, preview: ActView): Promise<ActView> {
  const { status, env } = session.world;
  const { selection, selected } = preview;
  // The preview's end of the pace is a forecast: the first call begins now.
  let done: ActView = { ...preview, dryRun: false, units: [], paceEndsAt: null };
  let from = 0;
  try {
    for (;;) {
      status?.(bar(from, selected, 'units'));
      const call = { ...event, selection, limit: UNITS_PER_CALL, from };
      const { paceEndsAt } = done;
      const part = await askRedrive<ActView>(pipeline, paceEndsAt === null ? call : { ...call, startAt: paceEndsAt });
      done = add(done, part);
      if (part.next === null) break;
      if (part.next <= from) throw new CliError(EXIT.partly, 'A call of the function had no time to move anything.');
      from = part.next;
    }
    status?.(bar(selected, selected, 'units'));
    return done;
  } catch (error) {
    if (error instanceof CliError && error.exitCode === EXIT.refused && from === 0) throw error;
    throw unfinished(preview, from, describeError(error, env));
  } finally {
    status?.('');
  }
}

import { describe, expect, it } from 'vitest';
import { dispatch } from '../../../lib/core/plan/dispatch.ts';
import { PortError } from '../../../lib/core/ports/index.ts';
import { accounts, altered, deploy, dispatchPorts, SCHEDULED, theRun, timeLeft } from './stage.ts';

const REQUEST = { scheduledTime: SCHEDULED, startedBy: 'schedule' };

/** A dispatcher whose pages of records all fail so. */
function failing(stage: ReturnType<typeof deploy>, failure: 'permanent' | 'transient') {
  const page = async () => {
    throw new PortError('Scan', { class: failure, error: 'AccessDeniedException' });
  };
  return dispatchPorts(stage, { sourceFor: async (run) => altered(stage.source.forRun(run), { page }) });
}

describe('planning that fails', () => {
  it('for good ends as refused, with the reason, and the same scheduled time works once it is mended', async () => {
    const stage = deploy(accounts(3));
    const refused = await dispatch(failing(stage, 'permanent'), stage.settings, REQUEST, timeLeft());
    expect(refused).toMatchObject({ kind: 'refused', status: 'refused' });
    expect(refused.problems[0]?.message).toMatch(/Planning failed for good: Scan failed: AccessDeniedException/);
    expect((await theRun(stage)).refusals).toEqual(refused.problems);
    expect(stage.queue.work.copies()).toHaveLength(0);

    const mended = await dispatch(dispatchPorts(stage), stage.settings, REQUEST, timeLeft());
    expect(mended).toMatchObject({ kind: 'dispatched', status: 'draining', problems: [] });
  });

  it('for a moment is thrown, and the next try need not wait for the lease', async () => {
    const stage = deploy(accounts(3));
    const tried = dispatch(failing(stage, 'transient'), stage.settings, REQUEST, timeLeft());
    await expect(tried).rejects.toThrow('AccessDeniedException (transient)');
    expect(await theRun(stage)).toMatchObject({ status: 'planning', lease: { until: 0 } });
    const again = await dispatch(dispatchPorts(stage), stage.settings, REQUEST, timeLeft());
    expect(again).toMatchObject({ kind: 'dispatched', status: 'draining' });
  });
});

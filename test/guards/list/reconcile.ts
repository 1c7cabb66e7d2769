import type { Guard } from '../guard.ts';

const CLOSING = 'lib/core/reconcile/closing.ts';
const LOST = 'lib/core/reconcile/lost.ts';
const ADVANCE = 'lib/core/reconcile/advance.ts';

/** Whether a run is what it says, and what vanished. */
export const RECONCILE_GUARDS: readonly Guard[] = [
  {
    name: 'digest-agrees',
    weakened: 'a run whose terminal digest disagrees with its plan is closed as complete',
    protects: 'I6, P72',
    file: CLOSING,
    find: 'return sameChain(plan, standing.terminal) && standing.remaining === 0',
    replace: 'return standing.remaining === 0',
    catcher: {
      file: 'test/unit/core/closing.test.ts',
      title: 'never closes over a batch with another digest of its keys, and says so at every pass',
    },
  },
  {
    name: 'published-agrees',
    weakened: 'a run is closed although other batches were published than planned',
    protects: 'I6',
    file: CLOSING,
    find: "  if (!sameChain(plan, published)) return { kind: 'mismatch', what: 'published' };\n",
    replace: '',
    catcher: {
      file: 'test/unit/core/closing.test.ts',
      title: 'never closes where what was published is not what was planned',
    },
  },
  {
    name: 'unresolved-keeps-open',
    weakened: 'a run closes over units that nobody has resolved',
    protects: 'I6',
    file: CLOSING,
    find: 'plan === undefined || published === undefined || standing.unresolvedUnits > 0',
    replace: 'plan === undefined || published === undefined',
    catcher: {
      file: 'test/unit/core/closing.test.ts',
      title: 'stays open while a batch is unresolved, whatever the rest',
    },
  },
  {
    name: 'quarantine-is-not-complete',
    weakened: 'a run with quarantined units is complete',
    protects: 'I6',
    file: CLOSING,
    find: "  if (standing.quarantinedUnits > 0) return { kind: 'complete-with-quarantine', closing };\n",
    replace: "  if (standing.quarantinedUnits > 0) return { kind: 'complete', closing };\n",
    catcher: {
      file: 'test/unit/core/reconcile.test.ts',
      title: 'is not made again where SQS had moved it to the dead letters: it waits there, labelled, for a person',
    },
  },
  {
    name: 'counted-from-outcomes',
    weakened: 'records are counted from the slice and not from the outcomes',
    protects: 'I6, P53',
    file: CLOSING,
    find: 'this.#outcomes = addCounts(this.#outcomes, unit.counts ?? {});',
    replace: 'this.#outcomes = addCounts(this.#outcomes, { expired: unit.records });',
    catcher: {
      file: 'test/unit/core/consume-outcomes.test.ts',
      title: 'P57: any one of several hold attributes holds',
    },
  },
  {
    name: 'split-parts-add-up',
    weakened: 'the digest of a split batch is taken from its slice, whatever its parts say',
    protects: 'I6',
    file: 'lib/core/reconcile/batches.ts',
    find: "  if (batch.keysDigest !== keysDigest(others) || named.size !== split.size) return '';\n",
    replace: '  void others;\n  void named;\n',
    catcher: { file: 'test/unit/core/isolation.test.ts', title: 'is none of another batch' },
  },
  {
    name: 'no-recovery-while-paused',
    weakened: 'messages count as lost while the policy is paused',
    protects: 'I6, I7, P72',
    file: ADVANCE,
    find: "  if (around.policy === 'paused') return {};\n",
    replace: '',
    catcher: {
      file: 'test/unit/core/act-pause.test.ts',
      title: 'takes no message for lost, however long both queues stand empty',
    },
  },
  {
    name: 'republish-interval',
    weakened: 'what is missing counts as lost the first time that the queue reads empty',
    protects: 'I6',
    file: LOST,
    find: 'export const EMPTY_PASSES = 3;',
    replace: 'export const EMPTY_PASSES = 1;',
    catcher: {
      file: 'test/unit/core/reconcile.test.ts',
      title: 'is made again once both queues were found empty for three passes in a row',
    },
  },
  {
    name: 'empty-passes-begin-again',
    weakened: 'lost messages are republished at every pass once the queue was empty for some',
    protects: 'I6',
    file: ADVANCE,
    find: "    await ports.ledger.moveRun(run.runId, 'watch', undefined, { emptyPasses: 0 });\n    return advanced;",
    replace: '    return advanced;',
    catcher: {
      file: 'test/unit/core/reconcile.test.ts',
      title: 'that is lost again and again is made again once for every three empty passes',
    },
  },
  {
    name: 'silent-for-a-message-life',
    weakened: 'a message that only waits in the queue is republished after an hour',
    protects: 'I6',
    file: LOST,
    find: 'export const MESSAGE_LIFE_MILLIS = (WORK_QUEUE_RETENTION_DAYS + 1) * 86_400_000;',
    replace: 'export const MESSAGE_LIFE_MILLIS = WORK_QUEUE_RETENTION_DAYS * 900_000;',
    catcher: {
      file: 'test/unit/core/reconcile.test.ts',
      title: 'is made again once it has been silent for longer than a message lives, whatever the queues seem to hold',
    },
  },
  {
    name: 'lost-before-its-start',
    weakened: 'a message that vanished before its unit was ever started is never made anew',
    protects: 'I6',
    file: LOST,
    find: 'if (absentAreLost) recovered += await recoverAbsent(ports, run, next);',
    replace: 'if (absentAreLost && next < 0) recovered += await recoverAbsent(ports, run, next);',
    catcher: {
      file: 'test/unit/core/reconcile.test.ts',
      title: 'is made again once both queues were found empty for three passes in a row',
    },
  },
  {
    name: 'lost-after-its-start',
    weakened: 'a message that vanished while its unit was under way is never made anew',
    protects: 'I6',
    file: LOST,
    find: "if (unit.state !== 'published' && unit.state !== 'in_progress') return 0;",
    replace: "if (unit.state !== 'published') return 0;",
    catcher: {
      file: 'test/unit/core/reconcile.test.ts',
      title: 'of a batch whose attempts are spent is not made again: the batch waits for a person',
    },
  },
  {
    name: 'missing-letters',
    weakened: 'dead letters that were purged or expired are missed by nobody',
    protects: 'I6, P58',
    file: 'lib/core/reconcile/reconcile.ts',
    find: 'const missing = tended.complete ? Math.max(0, copied - tended.waiting) : 0;',
    replace: 'const missing = Math.min(0, copied);',
    catcher: {
      file: 'test/unit/core/act-redrive.test.ts',
      title: 'are reported as missing at every pass, and a redrive makes their messages anew',
    },
  },
  {
    name: 'cancelled-settles',
    weakened: 'a cancelled run writes its totals while something of it is under way',
    protects: 'I6, I7',
    file: ADVANCE,
    find: '  if (now - (run.cancelledAt ?? run.createdAt) < CANCELLED_SETTLES_MILLIS) return {};\n',
    replace: '',
    catcher: {
      file: 'test/unit/core/act-cancel.test.ts',
      title: 'writes its totals only when nothing of it can be under way any more, and then never again',
    },
  },
];

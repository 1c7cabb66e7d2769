import type { Guard } from '../guard.ts';

const ATTEMPT = 'lib/core/consume/attempt.ts';
const APPLY = 'lib/core/consume/apply.ts';
const JUDGE = 'lib/core/consume/judge.ts';
const QUARANTINE = 'lib/core/consume/quarantine.ts';
const REFERENCE = 'lib/core/publish/reference.ts';
const SIGNED = 'test/unit/core/reference.test.ts';

/** One field left out of what is signed. */
function unsigned(field: string, find: string, replace: string, altered: string): Guard {
  return {
    name: `signed-${field.replace(' ', '-')}`,
    weakened: `the signature does not cover the ${field} of a message`,
    protects: 'I5, P45',
    file: REFERENCE,
    find,
    replace,
    catcher: { file: SIGNED, title: `a body altered in ${altered} is forged` },
  };
}

/** From a message to its acknowledgement. */
export const CONSUME_GUARDS: readonly Guard[] = [
  {
    name: 'signature-checked',
    weakened: 'a forged message is taken for ours',
    protects: 'I5, P45',
    file: 'lib/core/consume/prepare.ts',
    find: "      return { kind: 'bad', reason: 'bad_signature' };",
    replace: "      return { kind: 'valid', reference: parsed.reference };",
    catcher: {
      file: 'test/unit/core/consume-event.test.ts',
      title: 'altered in {"tenant":"t2"} after it was signed, it is forged',
    },
  },
  unsigned(
    'run',
    '    runId,\n    tenant,\n    formatInstant(cutoff),',
    '    tenant,\n    formatInstant(cutoff),',
    'runId (another run)',
  ),
  unsigned(
    'tenant',
    '    tenant,\n    formatInstant(cutoff),',
    '    formatInstant(cutoff),',
    'tenant (another tenant)',
  ),
  unsigned(
    'cutoff',
    '    formatInstant(cutoff),\n    policyVersion,\n    unit,\n    String',
    '    policyVersion,\n    unit,\n    String',
    'cutoff (a later cutoff)',
  ),
  unsigned(
    'policy version',
    '    policyVersion,\n    unit,\n    String',
    '    unit,\n    String',
    'policyVersion (another version)',
  ),
  unsigned('unit', '    unit,\n    String(generation),', '    String(generation),', 'unit (another batch)'),
  unsigned('generation', '    String(generation),\n', '', 'generation (a later generation)'),
  {
    name: 'unknown-key-is-no-forgery',
    weakened: 'a message signed with a key newer than the host’s ring is condemned',
    protects: 'I6, P45',
    file: 'lib/core/consume/prepare.ts',
    find: "return { kind: 'unavailable', why: 'unknown_key', failure: { class: 'transient', error: 'UnknownKey' } };",
    replace: "return { kind: 'bad', reason: 'bad_signature' };",
    catcher: {
      file: 'test/unit/core/consume-event.test.ts',
      title: 'signed with a key that this host has not heard of, it is tried again and not condemned',
    },
  },
  {
    name: 'unknown-key-refetch',
    weakened: 'an unknown key id forces no fetch of the ring',
    protects: 'I6',
    file: 'lib/aws/signer.ts',
    find: 'const key = known ?? (await this.#ringUpTo(REFETCH_INTERVAL_MILLIS)).ring.keys.get(keyId);',
    replace: 'const key = known;',
    catcher: {
      file: 'test/unit/aws/signer.test.ts',
      title: 'refetches exactly once for a key id that it does not know, and knows a rotated key then',
    },
  },
  {
    name: 'retired-key',
    weakened: 'a key that was retired long ago signs for ever',
    protects: 'I5',
    file: 'lib/aws/signer.ts',
    find: 'const timely = this.#ports.clock.now() <= expiresAt;',
    replace: 'const timely = expiresAt >= 0;',
    catcher: { file: 'test/unit/aws/signer.test.ts', title: 'verifies with a retired key for 30 days and no longer' },
  },
  {
    name: 'strict-fields',
    weakened: 'a body with unknown fields is read',
    protects: 'P45, P49',
    file: REFERENCE,
    find: '  if (Object.keys(json).sort().join() !== FIELDS.join()) return MALFORMED;\n',
    replace: '',
    catcher: {
      file: 'test/unit/core/reference-parse.test.ts',
      title: 'P45: a body with a field that we do not know is not ours',
    },
  },
  {
    name: 'one-spelling-of-an-instant',
    weakened: 'a cutoff may be spelled in several ways',
    protects: 'P45, P49',
    file: REFERENCE,
    find: 'if (cutoffMillis === undefined || formatInstant(cutoffMillis) !== cutoff) return MALFORMED;',
    replace: 'if (cutoffMillis === undefined) return MALFORMED;',
    catcher: {
      file: 'test/unit/core/reference-parse.test.ts',
      title: 'P49: the cutoff "2025-01-01T00:00:00Z" is another spelling and is refused',
    },
  },
  {
    name: 'mode-checked-by-consumer',
    weakened: 'a consumer works on a message of a report-only run',
    protects: 'I9',
    file: JUDGE,
    find: "  if (run.settings.mode === 'report-only') return 'report_only';\n",
    replace: '',
    catcher: {
      file: 'test/unit/core/consume-event.test.ts',
      title: 'of a run that only reports, it is not carried out',
    },
  },
  {
    name: 'message-is-of-its-run',
    weakened: 'cutoff and policy version of a message need not be those of its run',
    protects: 'I1, I5',
    file: JUDGE,
    find: "  if (reference.cutoff !== run.cutoff || reference.policyVersion !== run.policyVersion) return 'not_of_this_run';\n",
    replace: '',
    catcher: {
      file: 'test/unit/core/consume-event.test.ts',
      title: 'well signed, but not_of_this_run: {"policyVersion":"v2"}',
    },
  },
  {
    name: 'message-is-of-its-batch',
    weakened: 'the tenant of a message need not be that of its batch',
    protects: 'I5, P73',
    file: JUDGE,
    find: "  if (reference.tenant !== slice.tenant) return 'not_of_this_batch';\n",
    replace: '',
    catcher: {
      file: 'test/unit/core/consume-event.test.ts',
      title: 'well signed, but not_of_this_batch: {"tenant":"t2"}',
    },
  },
  {
    name: 'slice-digest',
    weakened: 'a slice that was altered since the freeze is worked on',
    protects: 'I2',
    file: JUDGE,
    find: "  if (digestOfSlice(slice) !== slice.digest) return 'slice_altered';\n",
    replace: '',
    catcher: {
      file: 'test/unit/core/consume-event.test.ts',
      title: 'of a slice that was altered after the plan was frozen, it is not carried out',
    },
  },
  {
    name: 'beyond-the-plan',
    weakened: 'a slice that a dead dispatcher left beyond the plan is worked on',
    protects: 'I2',
    file: JUDGE,
    find: 'if (slice === undefined || slice.ordinal >= (run.plan?.batches ?? 0)) return',
    replace: 'if (slice === undefined) return',
    catcher: {
      file: 'test/unit/core/consume-event.test.ts',
      title: 'of a slice that a dead dispatcher left beyond the plan, it is not carried out',
    },
  },
  {
    name: 'frozen-slice',
    weakened: 'a split record is looked up by counting on, so that it is another one of its batch',
    protects: 'I2, P13',
    file: JUDGE,
    find: 'const entry = slice.entries[position];',
    replace: 'const entry = slice.entries[position + 1] ?? slice.entries[0];',
    catcher: { file: 'test/unit/core/isolation.test.ts', title: 'keeps its operation key when it comes back alone' },
  },
  {
    name: 'generation-judged',
    weakened: 'a message of an earlier generation is worked on as one of the present',
    protects: 'I5, P61',
    file: JUDGE,
    find: "  if (reference.generation < unit.generation) return { kind: 'settled', why: 'stale' };\n",
    replace: '',
    catcher: {
      file: 'test/unit/core/consume-failures.test.ts',
      title: 'that was redriven makes the message of before stale',
    },
  },
  {
    name: 'attempts-bounded',
    weakened: 'a crash loop is never quarantined by its own count',
    protects: 'I5, P61',
    file: JUDGE,
    find: "  if (unit.attempts >= run.settings.maxAttempts) return { kind: 'spent', work, reason: 'attempts_spent' };\n",
    replace: '',
    catcher: {
      file: 'test/unit/core/consume-failures.test.ts',
      title: 'crashing again and again, is stopped by its own count although no attempt ever ended',
    },
  },
  {
    name: 'age-bounded',
    weakened: 'a unit may be of any age',
    protects: 'I5, P61',
    file: 'lib/core/control/age.ts',
    find: 'return now - born - held > run.settings.unitAgeHours * HOUR_MILLIS;',
    replace: 'return now < born;',
    catcher: {
      file: 'test/unit/core/age.test.ts',
      title: 'just at the cap is worked on; a millisecond later it waits for a person, with all its attempts left',
    },
  },
  {
    name: 'age-without-pauses',
    weakened: 'the time of a pause makes units old',
    protects: 'I5, P72',
    file: 'lib/core/control/age.ts',
    find: 'now - born - held >',
    replace: 'now - born >',
    catcher: {
      file: 'test/unit/core/act-pause.test.ts',
      title: 'is nobody’s age: a unit over its cap only by the pause is worked on, one over it without is not',
    },
  },
  {
    name: 'idempotency-key-generation',
    weakened: 'the idempotency key leaves the generation out: a redriven unit is answered from memory',
    protects: 'I5, P61',
    file: ATTEMPT,
    find: "digestOf(['delivery', runId, unit, String(generation)])",
    replace: "digestOf(['delivery', runId, unit, String(generation).slice(0, 0)])",
    catcher: {
      file: 'test/unit/core/consume-again.test.ts',
      title: 'P42: what a crash left in progress does not keep the next generation waiting',
    },
  },
  {
    name: 'idempotency-key-message',
    weakened: 'the idempotency key is made from the message id, so that a duplicate is new work',
    protects: 'I5',
    file: ATTEMPT,
    find: "digestOf(['delivery', runId, unit, String(generation)])",
    replace: "digestOf(['delivery', runId, unit, String(generation), this.#delivery.messageId])",
    catcher: {
      file: 'test/unit/core/consume-again.test.ts',
      title: 'P40: under another message id, it is the same work',
    },
  },
  {
    name: 'nothing-remembered-of-a-retry',
    weakened: 'a delivery that decides to retry leaves a result behind, which answers the next one',
    protects: 'I4, P43',
    file: ATTEMPT,
    find: '        return this.#stop(await this.#giveUpOrRetry(started, applied));\n',
    replace:
      "        this.#decision = await this.#giveUpOrRetry(started, applied);\n        return { state: 'committed', keysDigest: '' };\n",
    catcher: {
      file: 'test/unit/core/consume-failures.test.ts',
      title: 'for a moment, commits in the end with every record counted once',
    },
  },
  {
    name: 'attempt-before-effects',
    weakened: 'the attempt is not counted before effects',
    protects: 'I5',
    file: ATTEMPT,
    find: '        attempts: attempts + 1,\n        claim',
    replace: '        attempts,\n        claim',
    catcher: {
      file: 'test/unit/core/consume-failures.test.ts',
      title: 'counts its attempt in the ledger before any effect',
    },
  },
  {
    name: 'progress-spends-no-attempt',
    weakened: 'a delivery that made progress spends an attempt',
    protects: 'I5',
    file: ATTEMPT,
    find: 'const attempts = changed === 0 ? started.attempts : started.attempts - 1;',
    replace: 'const attempts = started.attempts;',
    catcher: {
      file: 'test/unit/core/consume-failures.test.ts',
      title: 'that changes something at every delivery spends no attempt, however long it takes',
    },
  },
  {
    name: 'progress-is-not-given-up',
    weakened: 'a unit on its last attempt is given up although it makes progress',
    protects: 'I5',
    file: ATTEMPT,
    find: 'const spent = changed === 0 && started.attempts >=',
    replace: 'const spent = started.attempts >=',
    catcher: {
      file: 'test/unit/core/consume-failures.test.ts',
      title: 'that changes something at its last attempt is not given up',
    },
  },
  {
    name: 'deferral-spends-no-attempt',
    weakened: 'a delivery that a pause or the end of its time stops spends an attempt',
    protects: 'I5, P72',
    file: ATTEMPT,
    find: 'const change = { attempts: this.#attempts - 1, counts };',
    replace: 'const change = { attempts: this.#attempts, counts };',
    catcher: {
      file: 'test/unit/core/act-pause.test.ts',
      title:
        'after 10000 ms of work: no target call begins later than ten seconds after the act answered (mapping follows)',
    },
  },
  {
    name: 'ledger-before-acknowledgement',
    weakened: 'a message is acknowledged before the completion of its unit is in the ledger',
    protects: 'I4',
    file: ATTEMPT,
    find: '        return this.#commit(applied.outcomes);',
    replace:
      "        void this.#commit(applied.outcomes).catch(() => undefined);\n        return { state: 'committed', keysDigest: '' };",
    catcher: {
      file: 'test/unit/core/consume-failures.test.ts',
      title: 'at its completion is not acknowledged: what was done is in the ledger first',
    },
  },
  {
    name: 'in-progress-elsewhere',
    weakened: 'a message whose unit another delivery has in hand is acknowledged',
    protects: 'I4',
    file: ATTEMPT,
    find: "      if (once.kind === 'in-progress-elsewhere') return this.#retry('in_progress_elsewhere', IN_PROGRESS_ELSEWHERE);\n",
    replace: '',
    catcher: {
      file: 'test/unit/core/consume-again.test.ts',
      title: 'P42: after a crash in the work, the next delivery waits for the lease and then does it',
    },
  },
  {
    name: 'retry-not-acknowledged',
    weakened: 'the handler acknowledges what is to come again',
    protects: 'I4, P34',
    file: 'lambdas/consumer/handler.ts',
    find: "    if (decision.kind === 'retry') throw new NotAcknowledged(decision);\n",
    replace: '    if (decision.kind === undefined) throw new NotAcknowledged(decision);\n',
    catcher: { file: 'test/unit/aws/handlers.test.ts', title: 'P34: hands back the message that is to come again' },
  },
  {
    name: 'unanswered-is-no-success',
    weakened: 'a record that the target’s answer leaves out counts as done',
    protects: 'I6, P27',
    file: APPLY,
    find: "this.#failures.set(item.key, { class: 'uncertain', error: 'NoAnswer' });",
    replace: "this.#outcomes.set(item.key, 'expired');",
    catcher: {
      file: 'test/unit/core/consume-failures.test.ts',
      title: 'for good, is quarantined at once with what is needed to find out why',
    },
  },
  {
    name: 'answer-that-nobody-asked-for',
    weakened: 'an answer about a record that was not asked for counts',
    protects: 'I6',
    file: APPLY,
    find: '      if (!this.#failures.has(result.key)) continue;\n',
    replace: '',
    catcher: {
      file: 'test/unit/core/consume-outcomes.test.ts',
      title: 'that was not asked for is not counted, whatever the target says of it',
    },
  },
  {
    name: 'gone-or-absent',
    weakened: 'a deletion that finds nothing after a lost try of ours says that somebody else did it',
    protects: 'P55',
    file: APPLY,
    find: 'const perhapsOurs = !this.#firstTry || this.#tried.has(key);',
    replace: 'const perhapsOurs = key === undefined;',
    catcher: {
      file: 'test/unit/core/deletion.test.ts',
      title: 'P47: in the next delivery after one that died says gone',
    },
  },
  {
    name: 'uncertain-not-replayed',
    weakened: 'an effect that may have happened is tried again where trying twice does harm',
    protects: 'I3',
    file: APPLY,
    find: "if (failure.class === 'uncertain') return target.idempotency === 'idempotent';",
    replace: "if (failure.class === 'uncertain') return target.idempotency !== undefined;",
    catcher: {
      file: 'test/unit/core/consume-failures.test.ts',
      title: 'with an effect that nobody knows is tried again only where trying twice does no harm',
    },
  },
  {
    name: 'gate-before-every-call',
    weakened: 'pause and cancel are asked for only before the first target call',
    protects: 'I7, P72',
    file: APPLY,
    find: "outOfTime ? { why: 'out-of-time' } : await permit.stopped();",
    replace: "outOfTime ? { why: 'out-of-time' } : start > 0 ? undefined : await permit.stopped();",
    catcher: {
      file: 'test/unit/core/act-pause.test.ts',
      title:
        'after 10000 ms of work: no target call begins later than ten seconds after the act answered (mapping broken)',
    },
  },
  {
    name: 'time-before-every-call',
    weakened: 'target calls begin that the remaining time does not cover',
    protects: 'I4, P42',
    file: APPLY,
    find: 'const outOfTime = permit.deadline.remainingMillis() < REMAINING_TIME_MARGIN_MILLIS;',
    replace: 'const outOfTime = permit.deadline.remainingMillis() < -REMAINING_TIME_MARGIN_MILLIS * 1e6;',
    catcher: {
      file: 'test/unit/core/consume-event.test.ts',
      title: 'P35: within a batch, no call is started that the time left may not cover, and what was done stays done',
    },
  },
  {
    name: 'pause-gate',
    weakened: 'a pause stops no consumer',
    protects: 'I7, P72',
    file: 'lib/core/control/gate.ts',
    find: "return control.pause === undefined ? { kind: 'open', pauses: control.pauses } : { kind: 'paused' };",
    replace: "return { kind: 'open', pauses: control.pauses };",
    catcher: {
      file: 'test/unit/core/act-pause.test.ts',
      title:
        'after 10000 ms of work: no target call begins later than ten seconds after the act answered (mapping broken)',
    },
  },
  {
    name: 'gate-believed-for-seconds',
    weakened: 'what the gate read is believed for a minute',
    protects: 'I7, P72',
    file: 'lib/core/control/gate.ts',
    find: 'export const STOPS_BELIEVED_MILLIS = 5_000;',
    replace: 'export const STOPS_BELIEVED_MILLIS = 60_000;',
    catcher: {
      file: 'test/unit/core/act-pause.test.ts',
      title:
        'after 12500 ms of work: no target call begins later than ten seconds after the act answered (mapping broken)',
    },
  },
  {
    name: 'cancel-check',
    weakened: 'a cancelled run is worked on',
    protects: 'I7',
    file: 'lib/core/control/gate.ts',
    find: "    if (runStatus === 'cancelled') return { kind: 'cancelled' };\n",
    replace: '',
    catcher: {
      file: 'test/unit/core/act-cancel.test.ts',
      title:
        'after 10000 ms of work: what is finished stays, what is under way stops within ten seconds, nothing else begins',
    },
  },
  {
    name: 'unknown-gate-stops',
    weakened: 'a gate that cannot be read counts as open',
    protects: 'I7, P72',
    file: ATTEMPT,
    find: "      return { why: 'unknown', failure: failureOf(error) };",
    replace: '      void failureOf(error);\n      return undefined;',
    catcher: {
      file: 'test/unit/core/consume-event.test.ts',
      title: 'P72: within a batch, no call is started where nobody can say whether the policy is paused',
    },
  },
  {
    name: 'isolation',
    weakened: 'one bad record takes its whole batch into quarantine',
    protects: 'I6',
    file: QUARANTINE,
    find: 'return isBatch && outcomes.size > 0 && failures.size <= ISOLATION_LIMIT;',
    replace: 'return isBatch && outcomes.size > 0 && failures.size < 0;',
    catcher: {
      file: 'test/unit/core/isolation.test.ts',
      title: 'is a unit of its own after one attempt, and its ninety-nine neighbours are done at the first delivery',
    },
  },
  {
    name: 'isolation-with-children',
    weakened: 'a batch commits without its failed records, and their units are not made',
    protects: 'I6',
    file: QUARANTINE,
    find: '    children,\n  );\n  if (moved.kind',
    replace: '    children.slice(0, 1),\n  );\n  if (moved.kind',
    catcher: { file: 'test/unit/core/isolation.test.ts', title: '2 of a batch are as many units' },
  },
  {
    name: 'split-names-its-records',
    weakened: 'a split batch counts the failed records among those done',
    protects: 'I6',
    file: QUARANTINE,
    find: '      split: failed.map(({ position }) => position),\n',
    replace: '      split: [],\n',
    catcher: {
      file: 'test/unit/core/isolation.test.ts',
      title: 'a second delivery of its batch does nothing but make sure that its message is there',
    },
  },
  {
    name: 'ledger-before-copy',
    weakened: 'the copy is sent to the dead-letter queue before the ledger knows of the quarantine',
    protects: 'I4',
    file: QUARANTINE,
    find: '  const { reference, slice, records } = work;\n  const now = ports.clock.now();\n  const moved',
    replace:
      '  const { reference, slice, records } = work;\n  const now = ports.clock.now();\n  await ports.queue.sendDeadLetter(body, { reason, errorClass: failure.error, generation: String(reference.generation) }, groupOf(slice.tenant));\n  const moved',
    catcher: {
      file: 'test/unit/core/consume-failures.test.ts',
      title: 'is in the ledger before it is in the dead-letter queue, and both before it is acknowledged',
    },
  },
  {
    name: 'copy-of-the-quarantined',
    weakened: 'a quarantined unit gets no message in the dead-letter queue',
    protects: 'I6',
    file: QUARANTINE,
    find: '  if (!hasCopy(unit)) await sendCopy(ports, body, unit);\n',
    replace: '',
    catcher: {
      file: 'test/unit/core/consume-failures.test.ts',
      title: 'whose copy could not be sent gets it from the next delivery, and is not worked on again',
    },
  },
  {
    name: 'copy-is-labelled',
    weakened: 'the copy in the dead-letter queue does not say of which generation it is',
    protects: 'I5, I7, P59',
    file: 'lib/core/consume/copies.ts',
    find: ', [GENERATION_LABEL]: String(generation) };',
    replace: ' };',
    catcher: {
      file: 'test/unit/core/console-move.test.ts',
      title: 'is audited as nobody known, and brought back once under the next generation',
    },
  },
  {
    name: 'duplicate-is-no-redrive',
    weakened: 'an unlabelled duplicate of a quarantined unit is taken for a redrive',
    protects: 'I7',
    file: 'lib/core/consume/consume.ts',
    find: 'const movedBack = delivery.labels[GENERATION_LABEL] === String(unit.generation);',
    replace: "const movedBack = delivery.labels[GENERATION_LABEL] !== 'none';",
    catcher: {
      file: 'test/unit/core/console-move.test.ts',
      title: 'without the label is a mere duplicate: nothing comes of it, and the copy in the dead-letter queue stays',
    },
  },
  {
    name: 'body-never-stored',
    weakened: 'the body of an unreadable message goes into a label',
    protects: 'I8, P76',
    file: QUARANTINE,
    find: 'await ports.queue.sendDeadLetter(body, { reason, digest }, groupOf(digest));',
    replace: 'await ports.queue.sendDeadLetter(body, { reason, digest, body }, groupOf(digest));',
    catcher: {
      file: 'test/unit/core/content.test.ts',
      title: 'P76: the body and the handle of a message that cannot be read are nowhere but in the dead letter itself',
    },
  },
  {
    name: 'no-record-content',
    weakened: 'a log line of a delivery names record keys',
    protects: 'I8, P76',
    file: 'lib/core/consume/work.ts',
    find: '  const identity = identityOf(prepared);\n  logDecision',
    replace:
      "  const keys = prepared.kind === 'loaded' ? (prepared.loaded.slice?.entries ?? []).map(({ key }) => key).join() : '';\n  const identity = { ...identityOf(prepared), unit: keys };\n  logDecision",
    catcher: {
      file: 'test/unit/core/content.test.ts',
      title:
        'P76: is in no message, label, log line, idempotency key or ledger state: success, retry, quarantine, redrive',
    },
  },
];

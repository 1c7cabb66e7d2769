import { digestOfKeys, digestOfSlice, link, NO_CHAIN, sameChain } from './definitions.ts';
import { type CaseFile, isFrozen, type RunFile, total } from './file.ts';

const DAY = 86_400_000;

/** The frozen plan: its slices, its digests, its counts and its cutoff. */
export function checkPlans(file: CaseFile): void {
  for (const one of file.runs) {
    checkCutoff(file, one);
    if (!isFrozen(one.run)) checkUnplanned(file, one);
    else {
      checkSlices(file, one);
      checkTenants(file, one);
    }
  }
}

/** On the scheduled time and on nothing else. */
function checkCutoff({ fault }: CaseFile, { run }: RunFile): void {
  const { settings, scheduledTime, cutoff, runId, kind } = run;
  const days = kind === 'delete' ? settings.graceDays : settings.retentionDays;
  if (cutoff !== scheduledTime - days * DAY) fault(`the cutoff of ${runId} is not ${days} days before its schedule`);
}

/** Nothing leaves before the plan is frozen, and nothing ever does of a run that is refused. */
function checkUnplanned({ evidence, fault }: CaseFile, { run }: RunFile): void {
  const { runId, status, refusals } = run;
  if (evidence.ledger.units.some((unit) => unit.runId === runId)) fault(`${runId} is ${status} and has units`);
  if (status === 'refused' && refusals.length === 0) fault(`${runId} is refused and gives no reason`);
}

function checkSlices({ fault }: CaseFile, { run, batches }: RunFile): void {
  const { runId, plan, published, refusals } = run;
  if (plan === undefined) return;
  if (refusals.length > 0) fault(`${runId} is ${run.status} and has reasons not to be`);
  let chain = NO_CHAIN;
  for (const { slice } of batches) {
    const keys = slice.entries.map(({ key }) => key);
    if (digestOfKeys(keys) !== slice.keysDigest) fault(`slice ${slice.ordinal} of ${runId} does not match its keys`);
    if (digestOfSlice(slice.ordinal, slice.tenant, slice.entries) !== slice.digest) {
      fault(`slice ${slice.ordinal} of ${runId} does not match its digest`);
    }
    chain = link(chain, keys.length, digestOfKeys(keys));
  }
  if (!sameChain(chain, plan)) fault(`the plan of ${runId} is not what its slices hold`);
  const nothingYet = run.status === 'reported' || run.status === 'publishing' || run.status === 'cancelled';
  if (!nothingYet && (published === undefined || !sameChain(chain, published))) {
    fault(`what ${runId} published is not what it planned`);
  }
  if (plan.discovered !== plan.records + plan.held + plan.overLimit) {
    fault(
      `${runId} discovered ${plan.discovered}, not ${plan.records} planned + ${plan.held} held + ${plan.overLimit}`,
    );
  }
  const { recordsPerRun } = run.settings;
  if (recordsPerRun !== null && plan.records > recordsPerRun)
    fault(`${runId} plans more than ${recordsPerRun} records`);
}

/** By tenant: what the report says, and what is in the slices. */
function checkTenants({ evidence, fault }: CaseFile, { run, batches }: RunFile): void {
  const { runId, plan } = run;
  if (plan === undefined) return;
  const written = evidence.ledger.tenants.filter((report) => report.runId === runId);
  // A try that was refused may have left reports of its own, of an older epoch.
  const epoch = Math.max(...written.map((report) => report.epoch));
  const reports = written.filter((report) => report.epoch === epoch);
  const named = new Set(batches.map(({ slice }) => slice.tenant));
  if (plan.tenants === 0) {
    if (named.size > 0) fault(`${runId} plans records of tenants that it does not count`);
    return;
  }
  if (reports.length !== plan.tenants) fault(`${runId} counts ${plan.tenants} tenants and reports ${reports.length}`);
  for (const { tenant, discovered, planned, held, overLimit } of reports) {
    named.delete(tenant);
    const inSlices = total(
      batches.filter(({ slice }) => slice.tenant === tenant).map(({ slice }) => slice.entries.length),
    );
    if (planned !== inSlices)
      fault(`${runId} reports ${planned} planned of ${tenant} where its slices hold ${inSlices}`);
    if (discovered !== planned + held + overLimit) fault(`the report of ${tenant} in ${runId} does not add up`);
  }
  if (named.size > 0) fault(`${runId} plans records of ${[...named].join()} and does not report them`);
  for (const name of ['discovered', 'held', 'overLimit'] as const) {
    const sum = total(reports.map((report) => report[name]));
    if (sum !== plan[name]) fault(`the tenants of ${runId} have ${sum} ${name}, the plan ${plan[name]}`);
  }
}

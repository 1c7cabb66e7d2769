import type { RunItem } from '../core/ledger/items.ts';
import { recentRuns } from '../core/read/recent-runs.ts';
import { CliError, EXIT } from './exit.ts';
import type { Pipeline } from './world.ts';

export const RUN_HELP = 'run id as `sweep runs` prints it, or `latest`';

/** The run that an argument means; throws a CliError where there is none. */
export async function findRun({ ledger, outputs }: Pipeline, run: string): Promise<RunItem> {
  const { policyId, stackName } = outputs;
  if (run === 'latest') {
    const [latest] = await recentRuns(ledger, policyId, 1);
    if (latest !== undefined) return latest;
    const help = `Start one with: sweep trigger --now --stack ${stackName}`;
    throw new CliError(EXIT.nothing, `Policy ${policyId} of stack ${stackName} has no runs yet. ${help}`);
  }
  const found = await ledger.readRun(run);
  if (found !== undefined) return found;
  const help = `See which there are with: sweep runs --stack ${stackName}`;
  throw new CliError(EXIT.nothing, `Run ${run} is not in the ledger of stack ${stackName}. ${help}`);
}

import type { RunItem } from '../ledger/items.ts';
import type { Ledger } from '../ports/index.ts';
import { everyItem } from './pages.ts';

/** A policy's runs, newest scheduled time first, at most `limit`. A run made a moment ago may be missing. */
export async function recentRuns(ledger: Ledger, policyId: string, limit: number): Promise<readonly RunItem[]> {
  const runs: RunItem[] = [];
  if (limit < 1) return runs;
  for await (const runId of everyItem((cursor) => ledger.runIds(policyId, limit, cursor))) {
    const run = await ledger.readRun(runId);
    if (run !== undefined) runs.push(run);
    if (runs.length >= limit) break;
  }
  return runs;
}

import { policyDigest } from '../policy/digest.ts';
import type { Problem } from '../policy/parse.ts';
import { relationProblems } from '../policy/relations.ts';
import type { Settings } from '../policy/settings.ts';
import type { GrantProbe, Ledger, RecordSource } from '../ports/index.ts';
import { RefusedRequest } from './request.ts';

export interface PreflightPorts<Subject> {
  readonly ledger: Ledger;
  readonly probe: GrantProbe;
  /** Opens the records of a policy. Throws RefusedRequest where table or index do not fit the settings. */
  readonly sourceFor: (subject: Subject) => Promise<RecordSource>;
}

export type Preflight =
  | { readonly kind: 'passed'; readonly source: RecordSource }
  | { readonly kind: 'refused'; readonly problems: readonly Problem[] };

async function openSource<Subject>(
  ports: PreflightPorts<Subject>,
  subject: Subject,
): Promise<RecordSource | readonly Problem[]> {
  try {
    return await ports.sourceFor(subject);
  } catch (error) {
    if (error instanceof RefusedRequest) return error.problems;
    throw error;
  }
}

/** A version that meant something else before: somebody changed the policy and kept its name. */
export function versionProblem(settings: Settings): Problem {
  return {
    parameter: 'PolicyVersion',
    received: settings.policyVersion,
    message: `PolicyVersion ${settings.policyVersion} meant something else in an earlier run: which records are due, or what happens to them, was changed under the same version. Give the policy a new version, or set the parameters back. Received ${settings.policyVersion}.`,
  };
}

/**
 * Everything that can be known to be wrong before discovery: relations between settings, the meaning of the version,
 * table and index, and the grants that carrying out the plan needs. Reports all of it at once and changes nothing.
 */
export async function preflight<Subject extends { readonly settings: Settings }>(
  ports: PreflightPorts<Subject>,
  subject: Subject,
): Promise<Preflight> {
  const { settings } = subject;
  const problems: Problem[] = [...relationProblems(settings)];
  const meaning = await ports.ledger.versionDigest(settings.policyId, settings.policyVersion);
  if (meaning !== undefined && meaning !== policyDigest(settings)) problems.push(versionProblem(settings));
  const source = await openSource(ports, subject);
  if (!('segments' in source)) return { kind: 'refused', problems: [...problems, ...source] };
  if (settings.mode !== 'report-only') problems.push(...(await ports.probe.missingGrants(settings)));
  return problems.length > 0 ? { kind: 'refused', problems } : { kind: 'passed', source };
}

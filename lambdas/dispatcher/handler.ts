import type { Context } from 'aws-lambda';
import { makeLambda } from '../../lib/aws/clients.ts';
import { readSettings } from '../../lib/aws/environment.ts';
import { LambdaGrantProbe } from '../../lib/aws/probe.ts';
import { createProcess, deadlineOf } from '../../lib/aws/process.ts';
import { openRecordSource } from '../../lib/aws/targets/dynamodb/source.ts';
import { checkOnly, type DispatchPorts, type DispatchResult, dispatch } from '../../lib/core/plan/dispatch.ts';
import { RefusedRequest, readDispatchRequest } from '../../lib/core/plan/request.ts';
import type { Problem } from '../../lib/core/policy/parse.ts';
import type { Settings } from '../../lib/core/policy/settings.ts';

/** What is wrong with a run that somebody thinks of; empty where it could begin. */
export interface PreflightResult {
  readonly kind: 'preflight';
  readonly problems: readonly Problem[];
}

/** Above a cold start of the consumer; its work on a probe is a few calls. */
const PROBE_LIMITS = { requestMillis: 30_000, maxAttempts: 2 };

const shared = createProcess(process.env, ['consumerFunction']);
const probe = new LambdaGrantProbe({
  dynamo: shared.dynamo,
  lambda: makeLambda({ meter: shared.meter, limits: PROBE_LIMITS }),
  consumerFunction: shared.names.consumerFunction,
});

function portsOf(context: Context): DispatchPorts {
  return {
    ...shared,
    probe,
    owner: context.awsRequestId,
    sourceFor: ({ settings, cutoff, kind }) => openRecordSource({ client: shared.dynamo, settings, cutoff, kind }),
  };
}

function settingsOfStack(): Settings {
  const parsed = readSettings(process.env);
  if (parsed.kind === 'invalid') throw new RefusedRequest(parsed.problems);
  return parsed.settings;
}

function logProblems(problems: readonly Problem[], runId: string | null): void {
  for (const { parameter, message: problem } of problems) {
    shared.log.event('error', 'refused', { runId, parameter, problem });
  }
}

async function run(event: unknown, context: Context): Promise<DispatchResult> {
  try {
    return await start(event, context);
  } catch (error) {
    if (error instanceof RefusedRequest) logProblems(error.problems, null);
    throw error;
  }
}

async function start(event: unknown, context: Context): Promise<DispatchResult> {
  const request = readDispatchRequest(event, shared.clock.now());
  const result = await dispatch(portsOf(context), settingsOfStack(), request, deadlineOf(context));
  const { problems, ...said } = result;
  shared.log.event('info', 'dispatch', { ...said, problems: problems.length });
  if (result.kind === 'refused') logProblems(problems, result.runId);
  return result;
}

async function check(event: unknown, context: Context): Promise<PreflightResult> {
  try {
    const request = readDispatchRequest(event, shared.clock.now());
    const checked = await checkOnly(portsOf(context), settingsOfStack(), request);
    return { kind: 'preflight', problems: checked.kind === 'refused' ? checked.problems : [] };
  } catch (error) {
    if (error instanceof RefusedRequest) return { kind: 'preflight', problems: error.problems };
    throw error;
  }
}

/**
 * Plans and publishes the run of a scheduled time, or joins the run where it exists. With `preflight: true` it only
 * looks, and what is wrong is an answer; else a request that cannot even become a run is an error, so that it shows
 * in the queue of missed starts.
 */
export async function handler(event: unknown, context: Context): Promise<DispatchResult | PreflightResult> {
  const { preflight } = (event ?? {}) as { readonly preflight?: unknown };
  return shared.invocation<DispatchResult | PreflightResult>(deadlineOf(context), () =>
    preflight === true ? check(event, context) : run(event, context),
  );
}

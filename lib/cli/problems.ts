import { PortError } from '../core/ports/failure.ts';
import { CliError } from './exit.ts';

type Env = Readonly<Record<string, string | undefined>>;

interface Problem {
  /** Code (the error's name, or that of a network error) and message. */
  readonly code: string;
  readonly message: string;
}

interface Rule {
  readonly matches: RegExp;
  readonly say: (problem: Problem, env: Env) => string;
}

const CREDENTIALS =
  'Set AWS_PROFILE, or sign in with your tool of choice; `aws sts get-caller-identity` shows whether it worked.';

/** Tried in order on `code message`. */
const RULES: readonly Rule[] = [
  {
    matches: /^CredentialsProviderError|could not load credentials/i,
    say: ({ message }) => `No AWS credentials were found (${message}). ${CREDENTIALS}`,
  },
  {
    matches: /^(ExpiredToken|RequestExpired)/,
    say: ({ message }) => `The AWS credentials have expired (${message}). ${CREDENTIALS}`,
  },
  {
    matches: /^(UnrecognizedClient|InvalidClientTokenId|InvalidSignature|SignatureDoesNotMatch|IncompleteSignature)/,
    say: ({ message }) => `AWS does not accept the credentials (${message}). ${CREDENTIALS}`,
  },
  {
    matches: /Region is missing/i,
    say: () => 'No AWS Region is set. Set AWS_REGION, or a region in your profile.',
  },
  {
    matches: /^(AccessDenied|UnauthorizedOperation)/,
    say: ({ message }) => `AWS denies it: ${message} Use credentials that may, or have this granted.`,
  },
  {
    matches: /^(ECONN|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|Timeout|AbortError|EPIPE)/,
    say: ({ code, message }, env) => `No answer from ${endpoint(env)} (${code}: ${message}). Check the network.`,
  },
  {
    matches: /CERT|self.signed|certificate/i,
    say: ({ message }, env) =>
      `The certificate of ${endpoint(env)} is not trusted (${message}). NODE_EXTRA_CA_CERTS names further ones.`,
  },
];

function endpoint(env: Env): string {
  return env.AWS_ENDPOINT_URL === undefined ? 'AWS' : `${env.AWS_ENDPOINT_URL} (AWS_ENDPOINT_URL)`;
}

/** Says what was wrong and, where that is known, what to do. */
export function describeError(error: unknown, env: Env): string {
  if (error instanceof CliError) return error.message;
  const problem = problemOf(error);
  const rule = RULES.find(({ matches }) => matches.test(`${problem.code} ${problem.message}`));
  return rule?.say(problem, env) ?? `Unexpected error ${problem.code}: ${problem.message}`;
}

/** A port's error says what failed; what AWS said is in its cause. */
function problemOf(error: unknown): Problem {
  if (error instanceof PortError) {
    const { message } = error.cause === undefined ? error : problemOf(error.cause);
    return { code: error.failure.error, message };
  }
  if (error instanceof AggregateError && error.errors.length > 0) return problemOf(error.errors[0]);
  if (!(error instanceof Error)) return { code: 'Error', message: String(error) };
  const { code } = error as { readonly code?: unknown };
  return { code: typeof code === 'string' ? code : error.name, message: error.message };
}

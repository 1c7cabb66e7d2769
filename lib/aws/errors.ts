import { type Failure, type FailureClass, PortError } from '../core/ports/failure.ts';

/** What an SDK error carries besides its name; every part may be missing. */
interface SdkError {
  readonly name?: string;
  /** Of network errors: `ECONNRESET`. */
  readonly code?: string;
  readonly $fault?: 'client' | 'server';
  readonly $metadata?: { readonly httpStatusCode?: number; readonly requestId?: string; readonly attempts?: number };
  readonly CancellationReasons?: readonly { readonly Code?: string }[];
  readonly cause?: unknown;
}

// Codes without the suffix `Exception` or `Error`: services and operations do not agree on it.
const TRANSIENT: readonly string[] = [
  // Throttles
  'Throttling',
  'Throttled',
  'ProvisionedThroughputExceeded',
  'RequestLimitExceeded',
  'RequestThrottled',
  'TooManyRequests',
  'LimitExceeded',
  'SlowDown',
  'KmsThrottled',
  'KMSThrottling',
  'OverLimit',
  // Conflicts
  'TransactionConflict',
  'TransactionInProgress',
  'ReplicatedWriteConflict',
  'ResourceInUse',
  'ResourceConflict',
  // Time
  'Timeout',
  'RequestTimeout',
  'Abort',
  'ExpiredToken',
  'RequestExpired',
  // What a host hears whose clock is off: the SDK takes the difference from the answer, and the next call is signed right.
  'RequestTimeTooSkewed',
  'RequestInTheFuture',
  'AuthFailure',
  'InvalidSignature',
  'SignatureDoesNotMatch',
  // Faults of the service
  'InternalServer',
  'InternalFailure',
  'Internal',
  'InternalService',
  'ServiceUnavailable',
];

const PERMANENT: readonly string[] = [
  'ConditionalCheckFailed',
  'ItemCollectionSizeLimitExceeded',
  'Validation',
  'ResourceNotFound',
  'AccessDenied',
  'UnauthorizedOperation',
  'DuplicateItem',
];

/** The class of an error code that came inside a successful answer (BatchExecuteStatement, SendMessageBatch). */
export function classOfCode(code: string): FailureClass {
  return knownClass(code) ?? 'transient';
}

/**
 * Classifies anything that an SDK call threw, by code, status and fault, never by message text. What nothing is known
 * of is transient, so that nothing is given up on it.
 */
export function classify(thrown: unknown): Failure {
  if (thrown instanceof PortError) return thrown.failure;
  const error = thrown !== null && typeof thrown === 'object' ? (thrown as SdkError) : {};
  const code = codeOf(error);
  const requestId = error.$metadata?.requestId;
  const cause = causeOf(error, code);
  return {
    class: classOf(error, code),
    error: code,
    ...(wasRefused(error) ? { effect: 'none' as const } : {}),
    ...(requestId === undefined ? {} : { requestId }),
    ...(cause === undefined ? {} : { cause }),
  };
}

/** True where the only attempt was answered with a fault of the caller: such a call was not carried out. */
function wasRefused({ $metadata: { httpStatusCode = 0, attempts } = {} }: SdkError): boolean {
  return attempts === 1 && httpStatusCode >= 400 && httpStatusCode < 500;
}

/** Makes one SDK call; whatever it throws comes out as a PortError. */
export async function portCall<T>(operation: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw portError(operation, error);
  }
}

export function portError(operation: string, error: unknown): PortError {
  return error instanceof PortError ? error : new PortError(operation, classify(error), error);
}

/** A failure that we found ourselves, before any call. */
export function refusal(operation: string, error: string): PortError {
  return new PortError(operation, { class: 'permanent', error });
}

/** Reasons per item of a transaction that was cancelled: `None` for those that would have passed (pitfall P52). */
export function cancellationCodes(error: unknown): readonly string[] {
  const reasons = (error as SdkError | undefined)?.CancellationReasons ?? [];
  return reasons.map((reason) => reason.Code ?? 'None');
}

function classOf(error: SdkError, code: string): FailureClass {
  if (code === 'TransactionCanceledException') return cancelledClass(cancellationCodes(error));
  const known = knownClass(code);
  if (known !== undefined) return known;
  const status = error.$metadata?.httpStatusCode ?? 0;
  if (status === 429 || status >= 500 || error.$fault === 'server') return 'transient';
  return status >= 400 || error.$fault === 'client' ? 'permanent' : 'transient';
}

/** One reason that will pass makes the whole worth another try; without any reason nothing is known. */
function cancelledClass(codes: readonly string[]): FailureClass {
  const classes = codes.filter((code) => code !== 'None').map(classOfCode);
  return classes.length === 0 || classes.includes('transient') ? 'transient' : 'permanent';
}

function knownClass(code: string): FailureClass | undefined {
  const stem = code.replace(/(Exception|Error)$/, '');
  if (TRANSIENT.includes(stem)) return 'transient';
  return PERMANENT.includes(stem) ? 'permanent' : undefined;
}

/** A network error's name is only `Error`; its code says what it was. */
function codeOf(error: SdkError): string {
  const name = error.name ?? 'UnknownError';
  return (name === 'Error' || name === 'AggregateError') && error.code !== undefined ? error.code : name;
}

/** Codes and names are short words; anything else may be a text that quotes somebody. */
const CODE = /^[\w.:-]{1,64}$/;

/**
 * What lay beneath: the reasons of a cancelled transaction, the error that this one wraps, or the code of a network
 * error that the SDK has given a name.
 */
function causeOf(error: SdkError, code: string): string | undefined {
  const reasons = new Set(cancellationCodes(error).filter((reason) => reason !== 'None'));
  if (reasons.size > 0) return [...reasons].join('+');
  const { cause } = error;
  const beneath = cause !== null && typeof cause === 'object' ? codeOf(cause as SdkError) : error.code;
  return beneath !== undefined && beneath !== code && CODE.test(beneath) ? beneath : undefined;
}

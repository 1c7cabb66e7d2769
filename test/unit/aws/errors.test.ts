import { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { classify, classOfCode, portCall } from '../../../lib/aws/errors.ts';
import { PortError } from '../../../lib/core/ports/failure.ts';

function sdkError(name: string, status: number, fault: 'client' | 'server' = 'client') {
  const $metadata = { httpStatusCode: status, requestId: 'request-1' };
  return Object.assign(new Error('The record ["Sacct-1"] is in here'), { name, $fault: fault, $metadata });
}

function cancelled(...codes: readonly string[]) {
  const CancellationReasons = codes.map((Code) => ({ Code }));
  return new TransactionCanceledException({ message: 'cancelled', $metadata: {}, CancellationReasons });
}

describe('classification', () => {
  it.each([
    ['a throttle', sdkError('ThrottlingException', 400), 'transient'],
    ['a table out of capacity', sdkError('ProvisionedThroughputExceededException', 400), 'transient'],
    ['an account out of capacity', sdkError('RequestLimitExceeded', 400), 'transient'],
    ['a throttle known by its status only', sdkError('SomethingNew', 429), 'transient'],
    ['a transaction that met ours', sdkError('TransactionConflictException', 400), 'transient'],
    ['a mapping that is just being changed', sdkError('ResourceInUseException', 400), 'transient'],
    ['our own transaction, still under way', sdkError('TransactionInProgressException', 400), 'transient'],
    ['a fault of the service', sdkError('InternalServerError', 500, 'server'), 'transient'],
    ['an unknown fault of the service', sdkError('Whatever', 503, 'server'), 'transient'],
    ['a host whose clock is off', sdkError('InvalidSignatureException', 403), 'transient'],
    ['a lapsed session', sdkError('ExpiredTokenException', 400), 'transient'],
    ['a missing right', sdkError('AccessDeniedException', 400), 'permanent'],
    ['a malformed request', sdkError('ValidationException', 400), 'permanent'],
    ['a missing table', sdkError('ResourceNotFoundException', 400), 'permanent'],
    ['an item collection that is full', sdkError('ItemCollectionSizeLimitExceededException', 400), 'permanent'],
    ['any other fault of the caller', sdkError('AWS.SimpleQueueService.NonExistentQueue', 400), 'permanent'],
  ])('%s', (_what, error, wanted) => {
    expect(classify(error)).toEqual({ class: wanted, error: error.name, requestId: 'request-1' });
  });

  it('a call whose only attempt the service refused had no effect; of any other nobody knows', () => {
    const answered = (status: number, attempts: number) =>
      Object.assign(new Error('x'), { name: 'Whatever', $metadata: { httpStatusCode: status, attempts } });
    expect(classify(answered(403, 1)).effect).toBe('none');
    for (const error of [answered(403, 2), answered(500, 1), new Error('socket hang up')]) {
      expect(classify(error)).not.toHaveProperty('effect');
    }
  });

  it('P37: a call that ran out of time is transient, and so is a broken connection', () => {
    const timeout = Object.assign(new Error('timed out'), { name: 'TimeoutError', code: 'ETIMEDOUT' });
    expect(classify(timeout)).toEqual({ class: 'transient', error: 'TimeoutError', cause: 'ETIMEDOUT' });
    const aborted = Object.assign(new Error('aborted'), { name: 'AbortError' });
    expect(classify(aborted)).toEqual({ class: 'transient', error: 'AbortError' });
    const reset = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
    expect(classify(reset)).toEqual({ class: 'transient', error: 'ECONNRESET' });
  });

  it.each([
    ['a conflict', cancelled('None', 'TransactionConflict'), 'transient'],
    ['a throttle beside a failed condition', cancelled('ConditionalCheckFailed', 'ThrottlingError'), 'transient'],
    ['a malformed item', cancelled('ValidationError', 'None'), 'permanent'],
    ['a failed condition alone', cancelled('ConditionalCheckFailed', 'None'), 'permanent'],
    ['reasons that say nothing', cancelled('None', 'None'), 'transient'],
    ['no reasons', cancelled(), 'transient'],
  ])('P52: a transaction cancelled for %s', (_what, error, wanted) => {
    expect(classify(error).class).toBe(wanted);
  });

  it.each([
    ['ThrottlingError', 'transient'],
    ['ProvisionedThroughputExceeded', 'transient'],
    ['TransactionConflict', 'transient'],
    ['InternalServerError', 'transient'],
    ['RequestLimitExceeded', 'transient'],
    ['ConditionalCheckFailed', 'permanent'],
    ['ValidationError', 'permanent'],
    ['ItemCollectionSizeLimitExceeded', 'permanent'],
    ['ResourceNotFound', 'permanent'],
    ['AccessDenied', 'permanent'],
    ['SomethingNew', 'transient'],
  ])('the code %s inside a successful answer is %s', (code, wanted) => {
    expect(classOfCode(code)).toBe(wanted);
  });

  it('P76: nothing of an error’s message is in the failure or in the text of the error we throw', async () => {
    const failing = portCall('putSlice', () => Promise.reject(sdkError('ValidationException', 400)));
    const error: unknown = await failing.catch((thrown) => thrown);
    expect(error).toBeInstanceOf(PortError);
    expect(`${error} ${JSON.stringify((error as PortError).failure)}`).not.toContain('acct-1');
    expect(String(error)).toBe('PortError: putSlice failed: ValidationException (permanent)');
  });

  it('says what lay beneath, by code or name', () => {
    const reset = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
    const wrapped = Object.assign(new Error('no credentials'), { name: 'CredentialsProviderError', cause: reset });
    expect(classify(wrapped)).toMatchObject({ error: 'CredentialsProviderError', cause: 'ECONNRESET' });
    const parsed = Object.assign(new Error('x'), { name: 'InternalFailure', cause: new SyntaxError('not JSON') });
    expect(classify(parsed)).toMatchObject({ error: 'InternalFailure', cause: 'SyntaxError' });
    expect(classify(cancelled('None', 'TransactionConflict', 'ConditionalCheckFailed', 'None'))).toMatchObject({
      error: 'TransactionCanceledException',
      cause: 'TransactionConflict+ConditionalCheckFailed',
    });
    for (const plain of [reset, sdkError('ThrottlingException', 400), new TypeError('x')]) {
      expect(classify(plain)).not.toHaveProperty('cause');
    }
  });

  it('P76: a cause that is a text and no code is left out', () => {
    const cause = Object.assign(new Error('x'), { name: 'The record ["Sacct-1"] is in here' });
    expect(classify(Object.assign(new Error('x'), { name: 'Whatever', cause }))).not.toHaveProperty('cause');
    expect(classify(Object.assign(new Error('x'), { name: 'Whatever', cause: 'Sacct-1' }))).not.toHaveProperty('cause');
  });

  it('a PortError keeps its failure; what no SDK threw is transient', async () => {
    const own = new PortError('load', { class: 'deferred', error: 'NoPermit' });
    expect(classify(own)).toBe(own.failure);
    await expect(portCall('other', () => Promise.reject(own))).rejects.toBe(own);
    expect(classify(undefined)).toEqual({ class: 'transient', error: 'UnknownError' });
    expect(classify(new TypeError('x'))).toEqual({ class: 'transient', error: 'TypeError' });
    const failed = new ConditionalCheckFailedException({ message: '', $metadata: {} });
    expect(classify(failed).class).toBe('permanent');
  });
});

import { describe, expect, it } from 'vitest';
import { CliError, EXIT } from '../../../lib/cli/exit.ts';
import { readOutputs } from '../../../lib/cli/outputs.ts';
import { describeError } from '../../../lib/cli/problems.ts';
import { PortError } from '../../../lib/core/ports/index.ts';

function named(name: string, message: string, more: object = {}): Error {
  return Object.assign(new Error(message), { name }, more);
}

const LOCAL = { AWS_ENDPOINT_URL: 'https://127.0.0.1:1' };

describe('what went wrong', () => {
  it.each([
    [named('CredentialsProviderError', 'none'), 'No AWS credentials were found (none). Set AWS_PROFILE'],
    [named('ExpiredTokenException', 'old'), 'The AWS credentials have expired (old).'],
    [named('UnrecognizedClientException', 'bad'), 'AWS does not accept the credentials (bad).'],
    [new Error('Region is missing'), 'No AWS Region is set.'],
    [named('AccessDenied', 'ada may not.'), 'AWS denies it: ada may not.'],
    [named('Error', 'connect', { code: 'ECONNREFUSED' }), 'No answer from https://127.0.0.1:1 (AWS_ENDPOINT_URL)'],
    [named('TimeoutError', 'slow'), '(TimeoutError: slow). Check the network.'],
    [named('Error', 'self', { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }), 'is not trusted (self). NODE_EXTRA_CA_CERTS'],
    [new Error('odd'), 'Unexpected error Error: odd'],
    ['text', 'Unexpected error Error: text'],
    [new CliError(EXIT.nothing, 'No such run.'), 'No such run.'],
  ])('%s', (error, sentence) => {
    expect(describeError(error, LOCAL)).toContain(sentence);
  });

  it('finds what AWS said behind a port error', () => {
    const cause = named('AccessDeniedException', 'ada may not read the ledger.');
    const failure = { class: 'permanent', error: 'AccessDeniedException' } as const;
    expect(describeError(new PortError('readRun', failure, cause), {})).toContain('ada may not read the ledger.');
    const alone = new PortError('readRun', { class: 'transient', error: 'Strange' });
    expect(describeError(alone, {})).toContain('readRun failed: Strange');
  });

  it('finds the first of several network errors', () => {
    const refused = named('Error', 'connect', { code: 'ECONNREFUSED' });
    expect(describeError(new AggregateError([refused, refused]), {})).toContain('No answer from AWS');
  });

  it('names the outputs that a stack lacks', () => {
    const outputs = new Map([
      ['PolicyId', 'accounts'],
      ['Mode', 'enforce'],
    ]);
    expect(() => readOutputs('Other', outputs)).toThrow(
      /Stack Other .* no output PolicyVersion, Action, RecordTableName/,
    );
  });
});

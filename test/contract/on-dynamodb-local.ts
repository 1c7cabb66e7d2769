import { afterAll, describe, it, type RunnerTask } from 'vitest';
import { type DynamoDbLocal, startDynamoDbLocal } from '../helpers/dynamodb-local.ts';

type Access = Pick<DynamoDbLocal, 'endpoint' | 'region' | 'credentials'>;

// Nothing is sent to it: only skipped tests see it.
const NOWHERE: Access = {
  endpoint: 'http://127.0.0.1:9',
  region: 'us-east-1',
  credentials: { accessKeyId: 'none', secretAccessKey: 'none' },
};

/**
 * Runs a file's tests on a DynamoDB Local of its own. Where there is no Java runtime for it, the tests are skipped and a
 * line says how many; with CI=true the file fails.
 */
export async function onDynamoDbLocal(tests: (access: Access) => void): Promise<void> {
  const local = await startDynamoDbLocal();
  describe.runIf(local !== undefined)('on DynamoDB Local', () => tests(accessOf(local)));
  if (local !== undefined) afterAll(local.stop);
  else {
    it('is not there', ({ task }) => {
      console.warn(`${countSkipped(task.file)} tests of ${task.file.name} are skipped: no DynamoDB Local.`);
    });
  }
}

function accessOf({ endpoint, region, credentials }: Access = NOWHERE): Access {
  return { endpoint, region, credentials };
}

function countSkipped(task: RunnerTask): number {
  if (task.type === 'suite') return task.tasks.reduce((sum, part) => sum + countSkipped(part), 0);
  return task.mode === 'skip' ? 1 : 0;
}

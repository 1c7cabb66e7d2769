import { deadlineOf } from '../../lib/aws/process.ts';
import { systemClock, systemRandom } from '../../lib/aws/system.ts';
import { clockContract } from './clock.contract.ts';
import { deadlineContract } from './deadline.contract.ts';
import { randomContract } from './random.contract.ts';

clockContract('of this process', () => systemClock);
randomContract('of this process', () => systemRandom);
deadlineContract('of this process', () => {
  const end = Date.now() + 30_000;
  // As Lambda's runtime tells it: the time of its end less the time that it is.
  const deadline = deadlineOf({ getRemainingTimeInMillis: () => end - Date.now() });
  return { deadline, pass: (millis) => systemClock.sleep(millis) };
});

import { environmentOf, trust } from '../../../lib/local/access.ts';
import { startLocalAws } from '../../../lib/local/server.ts';
import { child } from '../child.ts';
import type { Part, Scale } from '../figures.ts';
import type { RedriveFigures } from '../redrive-child.ts';

const LETTERS: Readonly<Record<Scale, { readonly few: number; readonly many: number }>> = {
  full: { few: 1_000, many: 10_000 },
  quick: { few: 500, many: 2_000 },
  tiny: { few: 40, many: 60 },
};
const MEBIBYTE = 1024 * 1024;

/** The acts of a person over many dead letters; the ledger on DynamoDB Local, the queues on the local AWS. */
export const acts: Part = {
  name: 'acts',
  about: 'list and redrive over 10,000 dead letters: calls and heap',
  async measure(scale) {
    const aws = await startLocalAws();
    const { AWS_ENDPOINT_URL_DYNAMODB = '' } = process.env;
    const env = { ...environmentOf(aws), AWS_ENDPOINT_URL_DYNAMODB };
    trust(aws);
    const { few, many } = LETTERS[scale];
    try {
      const small = await child<RedriveFigures>('redrive-child.ts', few, env);
      const large = await child<RedriveFigures>('redrive-child.ts', many, env);
      const bounds = <B>(bound: B) => (scale === 'tiny' ? {} : { bound });
      return {
        figures: [
          {
            what: `SDK calls of a list of ${many} dead letters`,
            value: large.listCalls / many,
            unit: 'per message',
            ...bounds({ atMost: 0.05 }),
          },
          {
            what: `SDK calls of a redrive of 37 among ${many} dead letters`,
            value: large.filteredCalls / many,
            unit: 'per message in the queue',
            ...bounds({ atMost: 0.5 }),
          },
          {
            what: `SDK calls of a redrive of all ${many} dead letters`,
            value: large.allCalls / many,
            unit: 'per message',
            ...bounds({ atMost: 4 }),
          },
          {
            what: `heap growth of the acts, ${few} to ${many} dead letters`,
            value: (large.heapBytes - small.heapBytes) / MEBIBYTE,
            unit: 'MB',
            ...bounds({ atMost: 20 }),
          },
        ],
        tables: [],
      };
    } finally {
      await aws.stop();
    }
  },
};

import { defineConfig } from 'vitest/config';

// It looks at the console, which is the worker's.
const LOG_TEST = 'test/unit/aws/log.test.ts';

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          // No unit test changes what another could see, so that modules are loaded once per worker.
          isolate: false,
          include: ['test/{unit,model,simulation}/**/*.test.ts'],
          exclude: [LOG_TEST],
        },
      },
      { test: { name: 'log', include: [LOG_TEST] } },
      {
        test: {
          name: 'infra',
          include: ['test/infra/**/*.test.ts'],
          setupFiles: ['test/infra/setup.ts'],
          // Loading the CDK takes seconds: once per worker, not once per file.
          isolate: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'contract',
          include: ['test/contract/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          // That each part runs; what it measures is for `npm run bench`.
          name: 'bench',
          include: ['test/bench/**/*.test.ts'],
          testTimeout: 240_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'guards',
          include: ['test/guards/**/*.test.ts'],
          testTimeout: 240_000,
          hookTimeout: 240_000,
          // It runs tests itself.
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          testTimeout: 240_000,
          hookTimeout: 300_000,
          // Each has a local AWS of its own; most of their time is waiting.
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});

import { rmSync } from 'node:fs';
import { afterAll } from 'vitest';
import { scratch } from './synthesis.ts';

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

import { setTimeout } from 'node:timers/promises';
import type { Clock, Random } from '../core/ports/services.ts';

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (millis) => setTimeout(millis),
};

export const systemRandom: Random = { next: () => Math.random() };

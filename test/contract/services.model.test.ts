import {
  MemoryDeadline,
  MemoryIntake,
  MemoryLog,
  MemoryMeter,
  MemoryProbe,
  MemoryQueue,
  MemoryResumer,
  SeededRandom,
  World,
} from '../model/index.ts';
import { clockContract } from './clock.contract.ts';
import { deadlineContract } from './deadline.contract.ts';
import { grantProbeContract } from './grant-probe.contract.ts';
import { intakeContract } from './intake.contract.ts';
import { logContract } from './log.contract.ts';
import { meterContract } from './meter.contract.ts';
import { randomContract } from './random.contract.ts';
import { resumerContract } from './resumer.contract.ts';
import { untilOn } from './until.ts';

clockContract('in memory', () => new World().clock());
clockContract('in memory, of a host that is an hour off', () => new World().clock(3_600_000));
randomContract('in memory', () => new SeededRandom(1));

deadlineContract('in memory', () => {
  const world = new World();
  return { deadline: new MemoryDeadline(world, 30_000), pass: async (millis) => world.advance(millis) };
});

meterContract('in memory', async () => {
  const meter = new MemoryMeter();
  return {
    meter,
    write: async () => meter.count({ calls: 1, writeUnits: 1 }),
    read: async () => meter.count({ calls: 1, readUnits: 1 }),
    call: async () => meter.count({ calls: 1 }),
  };
});

intakeContract('in memory', async () => {
  const world = new World();
  const queue = new MemoryQueue(world);
  const intake = new MemoryIntake();
  world.onAdvance(() => {
    if (intake.state === 'on') for (const copy of queue.work.visible()) queue.work.drop(copy);
  });
  return {
    intake,
    send: async () => void (await queue.send([{ id: 'a', body: 'body', group: 'g' }])),
    waiting: async () => (await queue.depth()).work,
    async look() {
      const [delivery] = await queue.receive(1);
      await queue.delay(delivery?.handle ?? '', 0);
      return delivery?.receiveCount ?? 0;
    },
    idle: async () => world.advance(1_000),
    hasSettled: async (state) => intake.state === state,
    until: untilOn(world),
  };
});

resumerContract('in memory', async () => {
  const resumer = new MemoryResumer();
  return { resumer, started: async () => resumer.requested, until: untilOn(new World()) };
});

grantProbeContract('in memory', async () => ({
  recordTableName: 'records',
  async probe(granted) {
    const probe = new MemoryProbe();
    probe.grantOnly(...granted);
    return probe;
  },
}));

logContract('in memory', async () => {
  const log = new MemoryLog();
  return {
    log,
    flush: async () => {},
    kept: async () =>
      log.terminal.map(({ level, name, fields }) => ({ ...fields, level: level.toUpperCase(), message: name })),
    until: untilOn(new World()),
  };
});

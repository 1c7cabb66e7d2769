import { sumOf } from '../contender.ts';
import { CONTENDER_NAMES, type ContenderName, type Ran, run } from '../contenders.ts';
import { type Figure, median, type Part, type Scale, type Table } from '../figures.ts';
import { accounts, NARROW, type RecordShape, SHAPES } from '../shapes.ts';

const TENANTS = 10;
const BATCH_SIZE = 100;
const SIZES: Readonly<Record<Scale, { readonly records: number; readonly shaped: number; readonly rounds: number }>> = {
  full: { records: 4_000, shaped: 2_000, rounds: 5 },
  quick: { records: 2_000, shaped: 500, rounds: 3 },
  tiny: { records: 60, shaped: 60, rounds: 1 },
};

function options(records: number, shape: RecordShape) {
  return { batchSize: BATCH_SIZE, shape, items: accounts(records, TENANTS, shape) };
}

/** Milliseconds per round; every round times each contender once, in an order that turns. */
async function timed(scale: Scale): Promise<Readonly<Record<ContenderName, readonly number[]>>> {
  const { records, rounds } = SIZES[scale];
  const times = Object.fromEntries(CONTENDER_NAMES.map((name): [string, number[]] => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    const turn = round % CONTENDER_NAMES.length;
    for (const name of [...CONTENDER_NAMES.slice(turn), ...CONTENDER_NAMES.slice(0, turn)]) {
      const { millis } = await run(name, { ...options(records, NARROW), metering: 'calls' });
      times[name]?.push(millis);
    }
  }
  return times as Record<ContenderName, number[]>;
}

async function counted(records: number, shape: RecordShape): Promise<Readonly<Record<ContenderName, Ran>>> {
  const ran: [ContenderName, Ran][] = [];
  for (const name of CONTENDER_NAMES)
    ran.push([name, await run(name, { ...options(records, shape), metering: 'units' })]);
  return Object.fromEntries(ran) as Record<ContenderName, Ran>;
}

function callsTable(ran: Readonly<Record<ContenderName, Ran>>): Table {
  return {
    title: `Cost per record, ${NARROW.name}, batches of ${BATCH_SIZE}`,
    columns: ['pipeline', 'write units', 'read units', 'SDK calls', 'SQS requests', 'invocations'],
    rows: CONTENDER_NAMES.map((name) => {
      const { cost, calls, queueRequests, invocations, world } = ran[name];
      const per = (count: number) => count / world.records;
      const counts = [cost.writeUnits, cost.readUnits, sumOf(calls), queueRequests, invocations];
      return [name, ...counts.map(per)];
    }),
  };
}

const ratio = (over: Ran, under: Ran) => over.cost.writeUnits / under.cost.writeUnits;

/** Ours beside what people build instead: the same records, store and condition. */
export const compare: Part = {
  name: 'compare',
  about: 'ours beside a message per record, a sequential loop, and a transaction per batch',
  async measure(scale) {
    const { records, shaped } = SIZES[scale];
    // Counted first, so that store and code are warm when it comes to time.
    const units = await counted(records, NARROW);
    const times = await timed(scale);
    // Of one round, so that a machine that slows down does so to both.
    const faster = (name: ContenderName) =>
      times[name].map((millis, round) => millis / (times.ours[round] ?? Number.NaN));
    const shapes: (string | number)[][] = [];
    for (const shape of SHAPES) {
      const ran = shape === NARROW ? units : await counted(shaped, shape);
      shapes.push([
        shape.name,
        shape.s,
        shape.g,
        ...CONTENDER_NAMES.slice(1).map((name) => ratio(ran.ours, ran[name])),
      ]);
    }
    const others = CONTENDER_NAMES.slice(1);
    const figures: Figure[] = [
      {
        what: 'write units of ours over those of a message per record (s = 1, g = 0)',
        value: ratio(units.ours, units['message per record']),
        unit: 'times',
        bound: { atMost: 0.4 },
      },
      {
        what: 'records per second of ours over those of a message per record',
        value: median(faster('message per record')),
        unit: 'times',
        ...(scale === 'tiny' ? {} : { bound: { atLeast: 3 } }),
      },
    ];
    return {
      figures,
      tables: [
        callsTable(units),
        {
          title: 'Write units of ours over theirs',
          columns: ['record', 's', 'g', ...others],
          rows: shapes,
        },
        {
          title: `Records per second of ours over theirs, ${SIZES[scale].rounds} rounds of ${records} records`,
          columns: ['against', 'median', 'least', 'most'],
          rows: others.map((name) => [
            name,
            median(faster(name)),
            Math.min(...faster(name)),
            Math.max(...faster(name)),
          ]),
        },
      ],
    };
  },
};

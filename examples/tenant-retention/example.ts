import type { Rollout } from '../../lib/local/up/example.ts';
import { calendarFrom } from './calendar.ts';
import { RolloutOnTable } from './rollout.ts';
import { shipments } from './shipments.ts';

/** Retention of shipment records of many tenants, from the first report to the deletion. */
export const example: Rollout = {
  kind: 'rollout',
  name: 'tenant-retention',
  begin: (now) => {
    const calendar = calendarFrom(now);
    const items = shipments(calendar);
    return {
      settings: calendar.steps[0].settings,
      items,
      carryOut: (pipeline, progress) => new RolloutOnTable(pipeline, calendar, items, progress).carryOut(),
    };
  },
};

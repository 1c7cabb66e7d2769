// Loaded into a function's Node process by NODE_OPTIONS=--import (see clock.ts): its clock goes ahead of the machine's.
const ahead = Number(process.env.LOCAL_CLOCK_AHEAD_MILLIS ?? 0);
const MachineDate = Date;
const now = () => MachineDate.now() + ahead;

globalThis.Date = new Proxy(MachineDate, {
  construct: (target, args, made) => Reflect.construct(target, args.length === 0 ? [now()] : args, made),
  apply: () => new MachineDate(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});

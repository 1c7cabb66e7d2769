import type { EpochMillis } from '../identity/instant.ts';
import { parseInstant } from '../identity/instant.ts';
import { RefusedRequest } from '../plan/request.ts';
import type { Problem } from '../policy/parse.ts';
import { clip, sayReceived, sayShape } from './received.ts';

/** Which quarantined units an act is about; every part that is there must match. */
export interface UnitFilter {
  readonly run?: string;
  /** `<ordinal>` or `<ordinal>.<position>`; only together with `run`. */
  readonly unit?: string;
  readonly tenant?: string;
  /** Of the quarantine, such as `attempts_spent`. */
  readonly reason?: string;
  readonly errorClass?: string;
  readonly olderThanHours?: number;
}

/** How units are chosen: by a filter, all of them, or exactly those of a selection that was frozen before. */
export type Choice =
  | { readonly kind: 'all' }
  | { readonly kind: 'filter'; readonly filter: UnitFilter }
  | { readonly kind: 'selection'; readonly digest: string };

/** Who does something and why; audited before anything takes effect. */
export interface Named {
  readonly actor: string;
  readonly reason: string;
}

export interface UnitsRequest extends Named {
  readonly choice: Choice;
  readonly effect: 'dry-run' | 'real';
  /** Units that this call may move; the rest is left for the next. */
  readonly limit: number | undefined;
  /** Place in the selection to begin at, from 0; what lies before it is taken as done. */
  readonly from: number;
}

export interface RedriveUnits extends UnitsRequest {
  readonly act: 'redrive';
  /** Units per second; undefined: at once. */
  readonly perSecond: number | undefined;
  /** When the first of them is due; undefined: now. */
  readonly startAt: EpochMillis | undefined;
  readonly beyondGenerations: 'refused' | 'allowed';
}

/** What a person may ask of the redrive function. */
export type ActRequest =
  | { readonly act: 'list'; readonly filter: UnitFilter; readonly limit: number }
  | { readonly act: 'inspect'; readonly run: string; readonly unit: string }
  | RedriveUnits
  | (UnitsRequest & { readonly act: 'abandon' })
  | (Named & { readonly act: 'abandon-message'; readonly digest: string })
  | (Named & { readonly act: 'pause' | 'resume' })
  | (Named & { readonly act: 'cancel'; readonly run: string });

const ACTS = ['list', 'inspect', 'redrive', 'abandon', 'pause', 'resume', 'cancel'] as const;
const FIELDS: Readonly<Record<(typeof ACTS)[number], readonly string[]>> = {
  list: ['filter', 'limit'],
  inspect: ['run', 'unit'],
  redrive: ['filter', 'all', 'selection', 'dryRun', 'perSecond', 'startAt', 'beyondGenerations', 'limit', 'from'],
  abandon: ['filter', 'all', 'selection', 'dryRun', 'limit', 'from', 'message'],
  pause: [],
  resume: [],
  cancel: ['run'],
};
const FILTER_FIELDS = ['run', 'unit', 'tenant', 'reason', 'errorClass', 'olderThanHours'];
/** Characters of any text in an event. */
export const MAX_TEXT = 500;
const LISTED = 100;
const MAX_LISTED = 1_000;
const MAX_PER_SECOND = 1_000;
/** Of the age by which units are chosen. */
export const MAX_HOURS = 24 * 366;
const MAX_LIMIT = 10_000;
const UNIT = /^(0|[1-9][0-9]{0,7})(\.(0|[1-9][0-9]{0,3}))?$/;

/** True for a text that an event may hold: neither blank nor too long, and whole characters only. */
export function isActText(text: string): boolean {
  return text.trim() !== '' && text.length <= MAX_TEXT && text.isWellFormed();
}

/** True for the name of a unit, such as `7` or `7.12`. */
export function isUnitName(text: string): boolean {
  return UNIT.test(text);
}

/** Tenants are in no log, and a refusal is: what stands where a tenant may is told by its form alone. */
const UNSAID = ['tenant'];

/** Reads one event, gathering everything that is wrong with it. */
class Reader {
  readonly problems: Problem[] = [];
  readonly #event: Readonly<Record<string, unknown>>;
  /** Where the event stands within the whole one, such as `filter.`. */
  readonly #prefix: string;

  constructor(event: Readonly<Record<string, unknown>>, prefix = '') {
    this.#event = event;
    this.#prefix = prefix;
  }

  refuse(name: string, received: unknown, message: string, say = sayReceived): undefined {
    const text = say(received);
    this.problems.push({
      parameter: `${this.#prefix}${name}`,
      received: text,
      message: `${message} Received ${text}.`,
    });
    return undefined;
  }

  allow(names: readonly string[]): void {
    for (const name of Object.keys(this.#event)) {
      if (names.includes(name)) continue;
      const shown = clip(name);
      // It may be a tenant under a name that was mistyped.
      this.refuse(shown, this.#event[name], `There is no "${shown}" here; known: ${names.join(', ')}.`, sayShape);
    }
  }

  text(name: string, what: string, pattern?: RegExp): string | undefined {
    const value = this.#event[name];
    const fits = typeof value === 'string' && isActText(value);
    if (fits && (pattern === undefined || pattern.test(value))) return value.trim();
    const say = UNSAID.includes(name) ? sayShape : sayReceived;
    if (typeof value === 'string' && !value.isWellFormed()) {
      return this.refuse(name, value, `${name} holds half a character (a lone surrogate): send it anew.`, say);
    }
    return this.refuse(name, value, `${name} must be ${what}, in 1 to ${MAX_TEXT} characters.`, say);
  }

  optional<T>(name: string, read: (name: string) => T | undefined): T | undefined {
    return this.#event[name] === undefined ? undefined : read(name);
  }

  number(name: string, min: number, max: number, kind: 'whole' | 'any'): number | undefined {
    const value = this.#event[name];
    const fits = typeof value === 'number' && value >= min && value <= max;
    if (fits && (kind === 'any' || Number.isInteger(value))) return value;
    return this.refuse(
      name,
      value,
      `${name} must be a ${kind === 'whole' ? 'whole ' : ''}number from ${min} to ${max}.`,
    );
  }

  flag(name: string): 'yes' | 'no' {
    const value = this.#event[name];
    if (value !== undefined && typeof value !== 'boolean') this.refuse(name, value, `${name} must be true or false.`);
    return value === true ? 'yes' : 'no';
  }

  done<T>(request: T): T {
    if (this.problems.length > 0) throw new RefusedRequest(this.problems);
    return request;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withoutGaps<T extends object>(parts: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

function readFilter(outer: Reader, value: unknown): UnitFilter {
  if (value === undefined) return {};
  if (!isObject(value)) {
    outer.refuse('filter', value, 'filter must be an object.', sayShape);
    return {};
  }
  const reader = new Reader(value, 'filter.');
  reader.allow(FILTER_FIELDS);
  const text = (name: string) => reader.optional(name, () => reader.text(name, 'text'));
  const filter = withoutGaps({
    run: text('run'),
    unit: reader.optional('unit', () => reader.text('unit', 'an ordinal, or ordinal.position', UNIT)),
    tenant: text('tenant'),
    reason: text('reason'),
    errorClass: text('errorClass'),
    olderThanHours: reader.optional('olderThanHours', () => reader.number('olderThanHours', 0, MAX_HOURS, 'any')),
  });
  if (filter.unit !== undefined && filter.run === undefined) {
    reader.refuse('unit', filter.unit, 'A unit is only named together with its run: give filter.run too.');
  }
  outer.problems.push(...reader.problems);
  return filter;
}

/** An empty filter is everything, and has to be spelled out. */
function readChoice(reader: Reader, event: Readonly<Record<string, unknown>>): Choice {
  const filter = readFilter(reader, event.filter);
  const all = reader.flag('all') === 'yes';
  const digest = reader.optional('selection', () => reader.text('selection', 'the digest of a frozen selection'));
  const filtered = Object.keys(filter).length > 0;
  const ways = [all, filtered, digest !== undefined].filter(Boolean).length;
  if (ways === 0)
    reader.refuse('filter', event.filter, 'Say which units: a filter, "selection", or "all": true.', sayShape);
  if (ways > 1)
    reader.refuse('filter', event.filter, 'Give only one of filter, "selection" and "all": true.', sayShape);
  if (event.from !== undefined && digest === undefined) {
    reader.refuse('from', event.from, 'from is a place in a frozen selection: give "selection" too.');
  }
  if (digest !== undefined) return { kind: 'selection', digest };
  return all ? { kind: 'all' } : { kind: 'filter', filter };
}

function readNamed(reader: Reader): Named {
  return { actor: reader.text('actor', 'who acts') ?? '', reason: reader.text('reason', 'why') ?? '' };
}

function readUnits(reader: Reader, event: Readonly<Record<string, unknown>>): UnitsRequest {
  return {
    choice: readChoice(reader, event),
    effect: reader.flag('dryRun') === 'yes' ? 'dry-run' : 'real',
    limit: reader.optional('limit', () => reader.number('limit', 1, MAX_LIMIT, 'whole')),
    from: reader.optional('from', () => reader.number('from', 0, MAX_LIMIT, 'whole')) ?? 0,
    // A dry run moves nothing and needs no name.
    ...(event.dryRun === true ? { actor: '', reason: '' } : readNamed(reader)),
  };
}

function readInstant(reader: Reader, value: unknown): EpochMillis | undefined {
  const millis = typeof value === 'string' ? parseInstant(value) : undefined;
  if (millis === undefined) reader.refuse('startAt', value, 'startAt must be an instant such as 2026-01-31T02:00:00Z.');
  return millis;
}

/** Reads the redrive function's event; throws RefusedRequest with everything that is wrong with it. */
export function readActRequest(received: unknown): ActRequest {
  const event = isObject(received) ? received : {};
  const reader = new Reader(event);
  if (event !== received) {
    reader.refuse('act', received, `The event must be an object with an act, one of ${ACTS.join(', ')}.`, sayShape);
    throw new RefusedRequest(reader.problems);
  }
  const act = ACTS.find((name) => name === event.act);
  if (act === undefined) {
    reader.refuse('act', event.act, `act must be one of ${ACTS.join(', ')}.`);
    throw new RefusedRequest(reader.problems);
  }
  const ofMessage = act === 'abandon' && event.message !== undefined;
  reader.allow(['act', 'actor', 'reason', ...(ofMessage ? ['message'] : FIELDS[act])]);
  switch (act) {
    case 'list': {
      const limit = reader.optional('limit', () => reader.number('limit', 0, MAX_LISTED, 'whole')) ?? LISTED;
      return reader.done({ act, filter: readFilter(reader, event.filter), limit });
    }
    case 'inspect':
      return reader.done({
        act,
        run: reader.text('run', 'the id of a run') ?? '',
        unit: reader.text('unit', 'an ordinal, or ordinal.position', UNIT) ?? '',
      });
    case 'redrive':
      return reader.done({
        act,
        ...readUnits(reader, event),
        perSecond: reader.optional('perSecond', () => reader.number('perSecond', 0.001, MAX_PER_SECOND, 'any')),
        startAt: event.startAt === undefined ? undefined : readInstant(reader, event.startAt),
        beyondGenerations: reader.flag('beyondGenerations') === 'yes' ? 'allowed' : 'refused',
      });
    case 'abandon':
      if (!ofMessage) return reader.done({ act, ...readUnits(reader, event) });
      return reader.done({
        act: 'abandon-message',
        digest: reader.text('message', 'the digest of a message') ?? '',
        ...readNamed(reader),
      });
    case 'pause':
    case 'resume':
      return reader.done({ act, ...readNamed(reader) });
    case 'cancel':
      return reader.done({ act, run: reader.text('run', 'the id of a run') ?? '', ...readNamed(reader) });
  }
}

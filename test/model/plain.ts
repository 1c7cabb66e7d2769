// Copies that were made here: deeply frozen, so they can be handed out again without anybody noticing.
const made = new WeakSet<object>();

/**
 * A deep, frozen copy of plain data, as a store would give it back: nothing in it can be changed, and a property that
 * is undefined is not there. A copy is not copied again.
 */
export function copyOf<T>(value: T): T {
  return copy(value) as T;
}

function copy(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || made.has(value)) return value;
  if (Array.isArray(value)) return remembered(value.map(copy));
  const result: Record<string, unknown> = {};
  for (const [name, part] of Object.entries(value)) if (part !== undefined) result[name] = copy(part);
  return remembered(result);
}

function remembered<T extends object>(value: T): T {
  made.add(value);
  return Object.freeze(value);
}

/** True where two values hold the same plain data; the order of properties does not matter. */
export function samePlain(a: unknown, b: unknown): boolean {
  return canonical(a) === canonical(b);
}

/** One spelling per value. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

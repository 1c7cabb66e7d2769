/**
 * A deep, frozen copy of plain data, as a store would give it back: nothing is shared with the original, and a
 * property that is undefined is not there.
 */
export function copyOf<T>(value: T): T {
  return copy(value) as T;
}

function copy(value: unknown): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map(copy));
  if (value === null || typeof value !== 'object') return value;
  const result: Record<string, unknown> = {};
  for (const [name, part] of Object.entries(value)) if (part !== undefined) result[name] = copy(part);
  return Object.freeze(result);
}

/** True where two values hold the same plain data; the order of properties does not matter. */
export function samePlain(a: unknown, b: unknown): boolean {
  return canonical(a) === canonical(b);
}

/** One spelling per value. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

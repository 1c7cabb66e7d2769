import { type EpochMillis, parseInstant } from '../core/identity/instant.ts';

export interface SigningKey {
  readonly material: string;
  /** When it stopped signing; undefined for the current key. */
  readonly retiredAt: EpochMillis | undefined;
}

export interface KeyRing {
  /** Id of the key that signs. */
  readonly current: string;
  readonly keys: ReadonlyMap<string, SigningKey>;
}

/**
 * Reads the secret: `{"current": "k2", "k1": "<material>", "k2": "<material>", "retired": {"k1": "<ISO time>"}}`.
 * Undefined where it is not a ring: no JSON, no material of the current key, a retirement that is no time.
 */
export function parseKeyRing(secret: string): KeyRing | undefined {
  const parsed = parseObject(secret);
  if (parsed === undefined) return undefined;
  const { current, retired = {}, ...materials } = parsed;
  if (typeof current !== 'string' || typeof retired !== 'object' || retired === null) return undefined;
  const times = new Map(Object.entries(retired).map(([id, time]) => [id, parseInstant(String(time))]));
  if ([...times.values()].includes(undefined)) return undefined;
  const keys = new Map<string, SigningKey>();
  for (const [id, material] of Object.entries(materials)) {
    if (typeof material !== 'string' || material === '') return undefined;
    keys.set(id, { material, retiredAt: times.get(id) });
  }
  return keys.has(current) ? { current, keys } : undefined;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

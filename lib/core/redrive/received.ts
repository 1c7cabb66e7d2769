/** Characters of a received value that a refusal repeats: whoever sent it knows the rest, and a log need not. */
const SHOWN = 80;

/** The beginning of a text, in whole characters. */
export function clip(text: string): string {
  if (text.length <= SHOWN) return text.toWellFormed();
  const shown = text.slice(0, SHOWN - 1);
  // The cut may have gone through a character of two halves.
  return `${shown.isWellFormed() ? shown : shown.slice(0, -1).toWellFormed()}…`;
}

/** What a value is, without what is in it. */
export function sayShape(value: unknown): string {
  if (value === undefined) return '(nothing)';
  if (value === null) return 'null';
  if (typeof value === 'string') return `a text of ${value.length} characters`;
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** A received value as a refusal repeats it: in part where it is long, by its form alone where it is made of others. */
export function sayReceived(value: unknown): string {
  const simple = value !== null && ['string', 'number', 'boolean'].includes(typeof value);
  return simple ? clip(JSON.stringify(value)) : sayShape(value);
}

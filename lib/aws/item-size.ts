import type { AttributeValue } from '@aws-sdk/client-dynamodb';

export type Attributes = Readonly<Record<string, AttributeValue>>;

/** An item's size in bytes by DynamoDB's published rules ("DynamoDB item sizes and formats"). */
export function itemSize(item: Attributes): number {
  let bytes = 0;
  for (const [name, value] of Object.entries(item)) bytes += utf8(name) + valueSize(value);
  return bytes;
}

// A list or a map takes 3 bytes, and each of its elements 1, whatever is in it.
const DOCUMENT_BYTES = 3;
const ELEMENT_BYTES = 1;

/**
 * The size of one value without its name, in bytes. The SDK hands an attribute named `__proto__` over as undefined;
 * counting must not fail for one odd attribute of one record (pitfall P20).
 */
export function valueSize(value: AttributeValue | undefined): number {
  if (value === undefined) return 0;
  if (value.S !== undefined) return utf8(value.S);
  if (value.N !== undefined) return numberSize(value.N);
  if (value.B !== undefined) return value.B.byteLength;
  if (value.BOOL !== undefined || value.NULL !== undefined) return 1;
  if (value.SS !== undefined) return sum(value.SS.map(utf8));
  if (value.NS !== undefined) return sum(value.NS.map(numberSize));
  if (value.BS !== undefined) return sum(value.BS.map((part) => part.byteLength));
  if (value.L !== undefined) return DOCUMENT_BYTES + sum(value.L.map((part) => ELEMENT_BYTES + valueSize(part)));
  const entries = Object.values(value.M ?? {});
  return DOCUMENT_BYTES + itemSize(value.M ?? {}) + ELEMENT_BYTES * entries.length;
}

/** One byte for two significant digits, one more, and one for a sign. Zeros at either end do not count. */
function numberSize(text: string): number {
  const [mantissa = ''] = text.toLowerCase().split('e');
  const digits = mantissa.replace(/[^0-9]/g, '').replace(/^0+|0+$/g, '');
  return Math.ceil(digits.length / 2) + 1 + (mantissa.startsWith('-') ? 1 : 0);
}

function utf8(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

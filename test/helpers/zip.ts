import { crc32 } from 'node:zlib';

const LOCAL_HEADER = 0x04034b50;
const DIRECTORY_HEADER = 0x02014b50;
const DIRECTORY_END = 0x06054b50;
const VERSION = 20;

/** A ZIP archive of one file, not compressed. */
export function zipOf(name: string, text: string): Buffer {
  const [nameBytes, content] = [Buffer.from(name), Buffer.from(text)];
  const facts = Buffer.alloc(22);
  facts.writeUInt32LE(crc32(content), 8);
  facts.writeUInt32LE(content.length, 12);
  facts.writeUInt32LE(content.length, 16);
  facts.writeUInt16LE(nameBytes.length, 20);

  // Version, flags, method, time, date, checksum, sizes and length of the name stand alike in both headers.
  const local = Buffer.concat([u32(LOCAL_HEADER), u16(VERSION), facts.subarray(0, 22), u16(0), nameBytes, content]);
  const entry = Buffer.concat([
    ...[u32(DIRECTORY_HEADER), u16(VERSION), u16(VERSION), facts.subarray(0, 22)],
    ...[u16(0), u16(0), u16(0), u16(0), u32(0), u32(0), nameBytes],
  ]);
  const end = [u32(DIRECTORY_END), u16(0), u16(0), u16(1), u16(1), u32(entry.length), u32(local.length), u16(0)];
  return Buffer.concat([local, entry, ...end]);
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

// Zip archives, written by the specification and not by what reads them.
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';

/** A file in an archive; `crc` and `flags` where they are not the right ones. */
type Packed = {
  readonly name: string;
  readonly bytes: Buffer;
  readonly crc?: number;
  readonly flags?: number;
};

/** A zip archive by APPNOTE.TXT, 4.3: local headers, data, central directory. */
export function zipOf(...members: readonly Packed[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, bytes, crc = crc32(bytes), flags = 0 } of members) {
    const data = deflateRawSync(bytes);
    const about = Buffer.alloc(26);
    about.writeUInt16LE(20, 0);
    about.writeUInt16LE(flags, 2);
    about.writeUInt16LE(8, 4);
    about.writeUInt32LE(crc, 10);
    about.writeUInt32LE(data.length, 14);
    about.writeUInt32LE(bytes.length, 18);
    about.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), about, Buffer.from(name), data]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(at, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), about, rest, Buffer.from(name)]));
    parts.push(local);
    at += local.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(members.length, 4);
  end.writeUInt16LE(members.length, 6);
  end.writeUInt32LE(listed.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...parts, listed, Buffer.from('PK\x05\x06'), end]);
}

/** The text of the only file in an archive. */
export function textInZip(zip: Buffer): string {
  const entry = zip.readUInt32LE(zip.lastIndexOf('PK\x05\x06') + 16);
  const [bytes, local] = [zip.readUInt32LE(entry + 20), zip.readUInt32LE(entry + 42)];
  const data = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
  return inflateRawSync(zip.subarray(data, data + bytes)).toString();
}

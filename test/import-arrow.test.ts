// Arrow IPC and Feather files as imports read them (contract 11); written by apache-arrow, and by hand where it
// does not write what others do.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import * as arrow from 'apache-arrow';
import { holdReader } from '../src/imports/read/reader-process.ts';
import { type ServedBar, Vendor } from './presets/vendor.ts';

process.once('exit', holdReader());
const vendor = new Vendor();
after(() => vendor.close());

const { compressionRegistry, CompressionType } = arrow;
compressionRegistry.set(CompressionType.ZSTD, { encode: (data: Uint8Array) => zstdCompressSync(data) });
compressionRegistry.set(CompressionType.LZ4_FRAME, {
  encode: (data: Uint8Array) => execFileSync('lz4', ['-c', '-9'], { input: data }),
});

/** It writes the packed length of a buffer where the format has that of its values (Message.fbs). */
const { prototype } = arrow.RecordBatchWriter;
const { _compressBodyBuffers: pack } = prototype as unknown as Packing;
type Packing = { _compressBodyBuffers: (buffers: ArrayBufferView[]) => { buffers: Uint8Array[] } };
(prototype as unknown as Packing)._compressBodyBuffers = function (this: Packing, buffers) {
  const made = pack.call(this, buffers);
  for (const [at, { byteLength }] of buffers.entries()) {
    const length = made.buffers[2 * at]!;
    const view = new DataView(length.buffer, length.byteOffset, length.byteLength);
    if (length.length > 0 && view.getBigInt64(0, true) >= 0n) view.setBigInt64(0, BigInt(byteLength), true);
  }
  return made;
};

const fields = { asset_schema: 'stock', country_iso_code: 'US', interval: '1M' };
const START = Date.parse('2024-01-02T14:30:00Z');
const count = 300;
const bars: ServedBar[] = Array.from({ length: count }, (_, at) => [
  new Date(START + at * 60_000).toISOString().replace('.000Z', '+00:00'),
  10 + at / 100,
  20.125,
  9.5 - at / 1000,
  10 + at / 100,
  at % 3 === 0 ? null : at,
  null,
]);
const column = (place: number): (number | null)[] => bars.map((bar) => bar[place] as number | null);
const instants = (unit: arrow.TimeUnit, zone: string | null): arrow.Vector =>
  arrow.vectorFromArray(
    bars.map((bar) => Date.parse(bar[0])),
    new arrow.Timestamp(unit, zone),
  );

const tableOf = (more: Readonly<Record<string, arrow.Vector>> = {}): arrow.Table =>
  new arrow.Table({
    datetime: instants(arrow.TimeUnit.MILLISECOND, 'UTC'),
    symbol: arrow.vectorFromArray(
      bars.map((_, at) => (at < 150 ? 'A' : 'B')),
      new arrow.Dictionary(new arrow.Utf8(), new arrow.Int8()),
    ),
    note: arrow.vectorFromArray(
      bars.map((_, at) => (at % 7 === 0 ? null : `é "${at}", x_y`)),
      new arrow.Utf8(),
    ),
    open: arrow.vectorFromArray(column(1), new arrow.Float64()),
    high: arrow.vectorFromArray(column(2), new arrow.Float32()),
    low: arrow.vectorFromArray(column(3), new arrow.Float64()),
    close: arrow.vectorFromArray(column(4), new arrow.Float64()),
    volume: arrow.vectorFromArray(column(5), new arrow.Int32()),
    ...more,
  });

const served = async (): Promise<ServedBar[]> => [
  ...(await vendor.served('stock/US:A', '1M')),
  ...(await vendor.served('stock/US:B', '1M')),
];

/** A table with several batches. */
const batched = (table: arrow.Table): arrow.Table =>
  new arrow.Table(
    table.schema,
    [table.slice(0, 100), table.slice(100)].flatMap(({ batches }) => batches),
  );

function written(
  table: arrow.Table,
  form: 'file' | 'stream',
  compressionType: arrow.CompressionType | null,
): Buffer {
  const Writer = form === 'file' ? arrow.RecordBatchFileWriter : arrow.RecordBatchStreamWriter;
  return Buffer.from(new Writer({ autoDestroy: true, compressionType }).writeAll(table).toUint8Array(true));
}

for (const form of ['file', 'stream'] as const) {
  for (const codec of [null, CompressionType.ZSTD, CompressionType.LZ4_FRAME]) {
    test(`Arrow as a ${form}, ${codec === null ? 'plain' : CompressionType[codec]}: read by its own types (contract 11)`, async () => {
      const bytes = written(tableOf(), form, codec);
      const report = await vendor.import('a.arrow', bytes, { fields });
      assert.deepEqual(
        [report.rowsNew, report.rowsRefused, report.shape, report.mayBeCut],
        [count, 0, 'Arrow', false],
      );
      assert.deepEqual(await served(), bars);
      for (const end of [bytes.length - 1, bytes.length - 9, Math.floor(bytes.length / 2), 400, 20])
        assert.match(
          await vendor.refusal('a.arrow', bytes.subarray(0, end), { fields }),
          /^a\.arrow: the Arrow data is damaged/,
        );
    });
  }
}

test('a file whose schema is in its footer alone, as polars writes it, is read by that (contract 11)', async () => {
  const bytes = written(batched(tableOf()), 'file', null);
  const end = bytes.length - 10 - bytes.readUInt32LE(bytes.length - 10);
  // Before its first message polars writes the schema without the mark of a message.
  const before = Buffer.from(bytes.subarray(end, end + 64));
  const places = new Set<number>();
  for (let at = 8; at < end && bytes.readUInt32LE(at + 4) > 0; ) {
    places.add(at);
    const start = at + 8 + bytes.readUInt32LE(at + 4);
    at = start + Number(arrow.Message.decode(bytes.subarray(at + 8, start)).bodyLength);
  }
  for (let at = end; at < bytes.length - 16; at += 4) {
    const place = Number(bytes.readBigInt64LE(at));
    if (places.has(place)) bytes.writeBigInt64LE(BigInt(place + before.length), at);
  }
  const moved = Buffer.concat([bytes.subarray(0, 8), before, bytes.subarray(8)]);
  const report = await vendor.import('a.arrow', moved, { fields });
  assert.deepEqual([report.rowsNew, report.rowsRefused], [count, 0]);
  assert.deepEqual(await served(), bars);
});

test('times in each unit, dates, decimals and integers of 64 bits are read as they are (contract 11)', async () => {
  for (const unit of [arrow.TimeUnit.SECOND, arrow.TimeUnit.MICROSECOND, arrow.TimeUnit.NANOSECOND]) {
    const volume = arrow.vectorFromArray(
      bars.map((bar) => (bar[5] === null ? null : BigInt(bar[5]!))),
      new arrow.Int64(),
    );
    await vendor.import(
      'a.arrow',
      written(tableOf({ datetime: instants(unit, 'UTC'), volume }), 'file', null),
      { fields },
    );
    assert.deepEqual(await served(), bars);
  }
  const local = tableOf({ datetime: instants(arrow.TimeUnit.MILLISECOND, null) });
  assert.match(await vendor.refusal('a.arrow', written(local, 'file', null), { fields }), /--zone/);
});

test('a kind of column that is not read, Feather of version 1 and two columns of one name are refused (contract 11)', async () => {
  const clock = arrow.vectorFromArray(
    bars.map(() => 1),
    new arrow.TimeSecond(),
  );
  assert.match(
    await vendor.refusal('a.arrow', written(tableOf({ clock }), 'file', null), { fields }),
    /the column clock has an Arrow type that is not read\. Write/,
  );
  assert.match(
    await vendor.refusal('a.feather', Buffer.from('FEA1\0\0\0\0'), { fields }),
    /Feather of version 1/,
  );
});

test('damaged bytes are refused or read as other values, and end no process (contract 11)', async () => {
  const bytes = written(batched(tableOf()), 'file', CompressionType.LZ4_FRAME);
  for (let at = 8; at < bytes.length; at += 397) {
    const flipped = Buffer.from(bytes);
    flipped[at]! ^= 0x40;
    const message = await vendor
      .refusal('a.arrow', flipped, { fields })
      .catch((error: Error) => error.message);
    assert.doesNotMatch(message, /process that reads/);
  }
});

test('dates, decimals, views of texts, long texts and columns without values are read (contract 11)', async () => {
  const dates = ['2024-01-02', '2024-01-03'];
  const price = (text: string): arrow.Vector => {
    // 12.50 and -0.05 of 128 bits, the least significant words first.
    const words = text === 'high' ? [1250, 0, 0, 0, 1350, 0, 0, 0] : [1150, 0, 0, 0, 1250, 0, 0, 0];
    return new arrow.Vector([
      arrow.makeData({ type: new arrow.Decimal(2, 10, 128), length: 2, data: Uint32Array.from(words) }),
    ]);
  };
  const table = new arrow.Table({
    datetime: arrow.vectorFromArray(
      dates.map((date) => new Date(date)),
      new arrow.DateDay(),
    ),
    symbol: arrow.vectorFromArray(['A', 'A'], new arrow.Utf8View()),
    source_note: arrow.vectorFromArray(['a text of more than twelve bytes', null], new arrow.Utf8View()),
    nothing: arrow.vectorFromArray([null, null], new arrow.Null()),
    open: price('low'),
    high: price('high'),
    low: price('low'),
    close: price('high'),
    volume: arrow.vectorFromArray([9_007_199_254_740_993n, 7n], new arrow.Uint64()),
  });
  const report = await vendor.import('a.arrow', written(table, 'file', null), {
    fields: { ...fields, interval: 'DAY' },
  });
  assert.deepEqual([report.rowsNew, report.rowsRefused], [2, 0]);
  assert.deepEqual(await vendor.served('stock/US:A', 'DAY'), [
    ['2024-01-02', 11.5, 12.5, 11.5, 12.5, 9_007_199_254_740_992, null],
    ['2024-01-03', 12.5, 13.5, 12.5, 13.5, 7, null],
  ]);
});

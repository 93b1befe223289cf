// The look-ups of one thread, where snapshots of several versions are open at once (docs/decisions/0029).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fillStore } from '../../test/importing.ts';
import { TestFolder } from '../../test/stores.ts';
import { openStore } from '../store/engines.ts';
import { TrackedReader } from '../store/known-changes.ts';
import { changes } from '../store/schema/internal.ts';
import { Lookup } from './lookup.ts';

const nowMs = Date.parse('2025-06-02T12:00:00Z');
const temporary = new TestFolder();
const url = temporary.storeUrl();
const name = (symbol: string, text: string) =>
  fillStore(url, temporary.folder, nowMs, [
    ['instruments', [{ asset_schema: 'stock', country_iso_code: 'US', symbol, name: text }]],
  ]);
await name('AAPL', 'first');
await name('MSFT', 'other');
const [one, other] = [await openStore(url, 'read'), await openStore(url, 'read')];
after(async () => {
  await one.close();
  await other.close();
  temporary.close();
});

test('each of two overlapping snapshots finds an instrument as it is in its own version', async () => {
  const lookup = new Lookup();
  const nameIn = async (reader: TrackedReader, symbol = 'AAPL') =>
    (await lookup.instrument(reader, 'stock', { country: 'US', symbol })).instrument.name;
  const cachedIn = async (reader: TrackedReader, text: string) =>
    (await lookup.cached(reader, 'value', async () => `${await nameIn(reader)} ${text}`)).value;
  await one.snapshot(async (older) => {
    const before = new TrackedReader(older);
    assert.equal(await nameIn(before), 'first');
    assert.equal(await cachedIn(before, 'a'), 'first a');
    await name('AAPL', 'second');
    await other.snapshot(async (newer) => {
      const now = new TrackedReader(newer);
      assert.equal(await nameIn(now), 'second');
      assert.equal(await cachedIn(now, 'b'), 'second b');
      assert.equal(await nameIn(before), 'first', 'the older one goes on');
      assert.equal(await cachedIn(before, 'c'), 'first c');
      assert.equal(await nameIn(now), 'second');
      assert.equal(await cachedIn(now, 'd'), 'second b', 'an older value takes the place of no newer one');
    });
  });
});

test('an untouched instrument is not read again after a commit, in a snapshot of any version since it was', async () => {
  const lookup = new Lookup();
  const find = (reader: TrackedReader) =>
    lookup.instrument(reader, 'stock', { country: 'US', symbol: 'MSFT' });
  const found = await one.snapshot((reader) => find(new TrackedReader(reader)));
  await one.snapshot(async (older) => {
    const before = new TrackedReader(older);
    assert.equal(await find(before), found);
    await name('AAPL', 'third');
    assert.equal(await other.snapshot((reader) => find(new TrackedReader(reader))), found);
    assert.equal(await find(before), found);
  });
  await name('MSFT', 'changed');
  assert.notEqual(await one.snapshot((reader) => find(new TrackedReader(reader))), found);
});

test('a value depends on what it was made of, also where its request had read that before', async () => {
  const lookup = new Lookup();
  let made = 0;
  const ask = () =>
    one.snapshot(async (state) => {
      const reader = new TrackedReader(state);
      const { instrument } = await lookup.instrument(reader, 'stock', { country: 'US', symbol: 'AAPL' });
      const make = async () => `${instrument.name ?? ''} ${made++}`;
      const noted = await reader.noting(() => lookup.cached(reader, 'of AAPL', make));
      return { ...noted.value, parts: [...noted.parts].sort() };
    });
  await name('AAPL', 'fourth');
  const first = await ask();
  assert.deepEqual([first.value, first.isCached], ['fourth 0', false]);
  const second = await ask();
  assert.deepEqual([second.value, second.isCached], ['fourth 0', true]);
  assert.ok(
    second.parts.some((part) => part.startsWith('overrides ')) && second.parts.length > 2,
    'whoever uses it depends on them too',
  );
  await name('MSFT', 'changed again');
  assert.equal((await ask()).isCached, true);
  await name('AAPL', 'fifth');
  assert.equal((await ask()).value, 'fifth 1');
});

/** Closes the stock market of a country on a day. */
const close = (country_iso_code: string, calendar_date: string) => {
  const what = { name: 'Flood', holiday_code: 'HOLIDAY_FLOOD', session_template: 'CLOSED' };
  const row = { ...what, calendar_date, country_iso_code, asset_name: 'stock', symbol: '*' };
  return fillStore(url, temporary.folder, nowMs, [['holidays', [row]]]);
};

const dayOf = (text: string): number => Date.parse(text) / 86_400_000;

test('a holiday makes an instrument be read again only where its market is that of the holiday', async () => {
  await fillStore(url, temporary.folder, nowMs, [
    ['instruments', [{ asset_schema: 'stock', country_iso_code: 'UK', symbol: 'BP' }]],
  ]);
  const lookup = new Lookup();
  const find = (country: string, symbol: string) =>
    one.snapshot((reader) => lookup.instrument(new TrackedReader(reader), 'stock', { country, symbol }));
  const [american, british] = [await find('US', 'AAPL'), await find('UK', 'BP')];
  await close('UK', '2025-07-15');
  assert.equal(await find('US', 'AAPL'), american);
  const later = await find('UK', 'BP');
  assert.notEqual(later, british);
  assert.equal(later.calendar.sessionOn(dayOf('2025-07-15')), null);
  await close('US', '2025-07-15');
  assert.equal(await find('UK', 'BP'), later);
  assert.equal((await find('US', 'AAPL')).calendar.sessionOn(dayOf('2025-07-15')), null);
});

test('a holiday that a program imported which knew no parts of holidays makes everything be read again', async () => {
  const lookup = new Lookup();
  const find = () =>
    one.snapshot((reader) =>
      lookup.instrument(new TrackedReader(reader), 'stock', { country: 'US', symbol: 'AAPL' }),
    );
  assert.notEqual((await find()).calendar.sessionOn(dayOf('2025-07-16')), null);
  await close('US', '2025-07-16');
  const store = await openStore(url, 'write');
  const version = (await store.version())!;
  await store.write((writer) => writer.upsert(changes, [{ version, parts: { datasets: ['holidays'] } }]));
  await store.close();
  assert.equal((await find()).calendar.sessionOn(dayOf('2025-07-16')), null);
});

// Bars that become unfinished though no import changed them: every report of what hid them counts and names them, with the import that
// makes them served (contract 3.9, docs/decisions/0023).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { hiddenLines } from '../src/cli/hidden-words.ts';
import { unfinishedBars } from '../src/datasets/bars.ts';
import { counters } from '../src/datasets/internal.ts';
import type { HiddenReport } from '../src/history/hidden-bars.ts';
import { importFile } from '../src/loading/importers.ts';
import { collectRows } from '../src/store/all-rows.ts';
import { openStore } from '../src/store/engines.ts';
import { AskedBars } from './asked-bars.ts';
import { opened } from './importing.ts';
import { Workshop } from './service.ts';

const at = (text: string): number => Date.parse(`2024-02-${text}Z`);

/** What the file of a day has: one DAY row of each of some stocks, with one price. */
const dayFile = (symbols: readonly string[], price: number): string =>
  `symbol,datetime,open,high,low,close,volume\n${symbols.map((symbol) => `${symbol},2024-02-07,${price},${price},${price},${price},1\n`).join('')}`;

const holiday = (template: string, close = ''): string =>
  `name,holiday_code,calendar_date,asset_name,symbol,session_template,close_timestamp\nA day,HOLIDAY_A_DAY,2024-02-07,stock,*,${template},${close}\n`;

/** A store that commands change now, and imports at given moments. */
class Shop extends Workshop {
  /** Imports a file at a moment; the run. */
  async at(nowMs: number, dataset: string, name: string, content: string): Promise<number> {
    writeFileSync(this.path(name), content);
    const store = await openStore(this.store, 'write');
    const file = await opened(this.path(name));
    const recordedFlags = { country: 'US', ...(dataset === 'bars' && { interval: 'DAY', schema: 'stock' }) };
    const flags = new Map([
      ['country_iso_code', 'US'],
      ...(dataset === 'bars'
        ? ([
            ['interval', 'DAY'],
            ['asset_schema', 'stock'],
          ] as const)
        : []),
    ]);
    const about = { file, flags, recordedFlags, source: null, dryRun: false, nowMs: () => nowMs };
    const report = await importFile(store, dataset, about);
    await file.close();
    await store.close();
    assert.equal(report.rowsRefused, 0);
    return report.runId!;
  }

  /** The days that are served of a stock. */
  async days(symbol: string): Promise<number[]> {
    const asked = new AskedBars({ asset_schema: 'stock', country_iso_code: 'US', symbol }, this.store);
    const served = await asked.history('DAY', '2024-02-07', '2024-02-07');
    await asked.close();
    return served.map(({ close }) => close);
  }
}

/** A session that ended at 13:00: its day was imported after that, and held unchanged by a second import on the next day. */
async function heldTwice(shop: Shop): Promise<void> {
  await shop.at(at('01T00:00:00'), 'holidays', 'early.csv', holiday('EARLY_CLOSE', '2024-02-07T18:00:00Z'));
  await shop.at(at('07T19:00:00'), 'bars', 'day.csv', dayFile(['ACME', 'BOLT'], 10));
  await shop.at(at('08T12:00:00'), 'bars', 'again.csv', dayFile(['ACME'], 10));
  assert.deepEqual([await shop.days('ACME'), await shop.days('BOLT')], [[10], [10]]);
}

/** What is to be said once the session ends at 16:00: the second import has ACME after that, and none has BOLT. */
const expected: HiddenReport = {
  bars: 1,
  series: 1,
  named: [
    {
      instrument: 'stock:US:BOLT',
      ...{ interval: 'DAY', bars: 1, first: '2024-02-07', last: '2024-02-07' },
      command: 'bourse import bars FILE',
    },
  ],
};

/** A shop for one test. */
function shopOf(t: { after: (step: () => void) => void }): Shop {
  const shop = new Shop();
  t.after(() => shop.close());
  return shop;
}

test('an import of a longer session names the bars that it hides, and a later file serves them again (contract 3.9)', async (t) => {
  const shop = shopOf(t);
  await heldTwice(shop);
  writeFileSync(shop.path('regular.csv'), holiday('REGULAR'));
  const call = ['import', 'holidays', 'regular.csv', '--country', 'US'];
  const report = JSON.parse(await shop.must(...call, '--json', '--dry-run')) as { hidden: HiddenReport };
  assert.deepEqual(report.hidden, expected);
  assert.deepEqual(await shop.days('BOLT'), [10]);
  const text = await shop.must(...call);
  assert.ok(text.includes('not served until an import has them again: 1 bar of 1 series'), text);
  const line =
    'stock:US:BOLT DAY, 2024-02-07, 1 bar: import a file that was made after they closed: bourse import bars FILE';
  assert.ok(text.includes(line), text);
  assert.deepEqual([await shop.days('ACME'), await shop.days('BOLT')], [[10], []]);
  await shop.at(at('09T12:00:00'), 'bars', 'later.csv', dayFile(['BOLT'], 10));
  assert.deepEqual(await shop.days('BOLT'), [10]);
});

test('an undo and a deletion of a holiday do so too (contract 3.9)', async (t) => {
  for (const call of [
    ['undo', '1'],
    ['delete', 'holidays', '--schema', 'stock', '--country', 'US', '--symbol', '*'],
  ]) {
    const shop = shopOf(t);
    await heldTwice(shop);
    const { hidden } = JSON.parse(await shop.must(...call, '--json', '--dry-run')) as {
      hidden: HiddenReport;
    };
    assert.deepEqual(hidden, expected);
    const text = await shop.must(...call);
    assert.ok(text.includes('not served until an import has them again: 1 bar of 1 series'), text);
    assert.deepEqual([await shop.days('ACME'), await shop.days('BOLT')], [[10], []]);
  }
});

test('a bar stays finished by each import that held it after its close, whichever of the others is undone (contract 3.9, 10)', async (t) => {
  const shop = shopOf(t);
  await shop.at(at('07T19:00:00'), 'bars', 'noon.csv', dayFile(['ACME'], 10));
  await shop.at(at('07T22:00:00'), 'bars', 'evening.csv', dayFile(['ACME'], 10));
  await shop.at(at('08T12:00:00'), 'bars', 'again.csv', dayFile(['ACME'], 10));
  const undo = async (run: string) =>
    (JSON.parse(await shop.must('undo', run, '--json')) as { hidden: HiddenReport }).hidden;
  assert.equal((await undo('2')).bars, 0);
  assert.deepEqual(await shop.days('ACME'), [10]);
  const { bars, named } = await undo('3');
  assert.deepEqual([bars, named[0]!.instrument], [1, 'stock:US:ACME']);
  assert.deepEqual(await shop.days('ACME'), []);
});

test('an undo that hides nothing says nothing of hidden bars (contract 3.9)', async (t) => {
  const shop = shopOf(t);
  await shop.at(at('07T22:00:00'), 'bars', 'evening.csv', dayFile(['ACME'], 10));
  await shop.at(at('08T12:00:00'), 'bars', 'other.csv', dayFile(['ACME'], 11));
  const { hidden } = JSON.parse(await shop.must('undo', '2', '--json', '--dry-run')) as {
    hidden: HiddenReport;
  };
  assert.deepEqual(hidden, { bars: 0, series: 0, named: [] });
  assert.ok(!(await shop.must('undo', '2')).includes('served'));
  assert.deepEqual(await shop.days('ACME'), [10]);
});

test('the first opening of a store that an older Bourse wrote names them (contract 3.9)', async (t) => {
  const shop = shopOf(t);
  await heldTwice(shop);
  await shop.at(at('09T00:00:00'), 'holidays', 'regular.csv', holiday('REGULAR'));
  // That program left the bars as they were when the session became longer.
  const store = await openStore(shop.store, 'write');
  await store.write(async (writer) => {
    await writer.remove(counters, [{ name: 'overrides_followed' }]);
    await writer.remove(unfinishedBars, await collectRows(writer, unfinishedBars, {}));
  });
  await store.close();
  assert.deepEqual(await shop.days('ACME'), [10]);
  writeFileSync(shop.path('other.csv'), dayFile(['CORE'], 10));
  const flags = ['--schema', 'stock', '--country', 'US', '--interval', 'DAY'];
  const { stderr } = await shop.run('import', 'bars', 'other.csv', ...flags);
  assert.match(stderr, /not served until an import has them again: 1 bar of 1 series/);
  assert.ok(stderr.includes('stock:US:BOLT'), stderr);
  assert.deepEqual([await shop.days('ACME'), await shop.days('BOLT')], [[10], []]);
});

test('a report names the first of very many series (contract 3.9)', async (t) => {
  const shop = shopOf(t);
  const symbols = Array.from({ length: 1_010 }, (_, number) => `S${1_000 + number}`);
  await shop.at(at('01T00:00:00'), 'holidays', 'early.csv', holiday('EARLY_CLOSE', '2024-02-07T18:00:00Z'));
  await shop.at(at('07T19:00:00'), 'bars', 'day.csv', dayFile(symbols, 10));
  const { hidden } = JSON.parse(await shop.must('undo', '1', '--json', '--dry-run')) as {
    hidden: HiddenReport;
  };
  assert.deepEqual([hidden.bars, hidden.series, hidden.named.length], [1_010, 1_010, 1_000]);
  assert.equal(hidden.named.at(-1)!.instrument, 'stock:US:S1999');
  const lines = hiddenLines(hidden);
  assert.deepEqual([lines.length, lines.at(-1)], [22, '  and 990 more series']);
});

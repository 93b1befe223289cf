// What a map does not name is not read: a column that only has a field's name never slips in beside a map
// (contract 8.2, 11).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { namesOf } from '../../src/imports/map/column-mapping.ts';
import { barFields } from '../../src/store/schema/bars.ts';
import { fileDatasetNamed, fileDatasets } from '../../src/store/schema/index.ts';
import { contentOf } from '../stores.ts';
import { type Flags, Vendor } from './vendor.ts';

const vendor = new Vendor();
after(() => vendor.close());

/**
 * The fields of one good row of each dataset, which a map names, and values that its other fields could have.
 */
const good: Readonly<Record<string, readonly [row: Record<string, string>, poison: Record<string, string>]>> =
  {
    bars: [
      {
        ...{ datetime: '2025-02-03T14:30:00Z', open: '1', high: '2', low: '0.5', close: '1.5' },
        ...{ asset_schema: 'stock', country_iso_code: 'US', symbol: 'A', interval: '1M' },
      },
      { volume: '7', vwap: '1.2', exchange: 'XNAS' },
    ],
    instruments: [
      { asset_schema: 'stock', country_iso_code: 'US', symbol: 'A' },
      { currency: 'GBP', status: 'inactive', exchange: 'XNYS', name: 'Of the wrapper' },
    ],
    'corporate-actions': [
      {
        ...{ country_iso_code: 'US', symbol: 'A', action_type: 'dividend' },
        ...{ ex_date: '2025-02-03', cash_amount: '0.5' },
      },
      { adjustment_factor: '0.5', currency: 'EUR', reference_price: '100', occurrence: '2' },
    ],
    news: [
      { published_date: '2025-02-03T14:30:00Z', title: 'A', publisher_url: 'https://example.com/a' },
      { asset_name: 'stock', country_iso_code: 'US', symbol: 'A', sentiment_label: 'negative' },
    ],
    'option-contracts': [
      {
        ...{ symbol: 'A270115C00030000', country_iso_code: 'US', parent_asset_schema: 'stock' },
        ...{ underlying_name: 'A', strike_price: '30', expiration_date: '2027-01-15', option_type: 'call' },
      },
      { status: 'inactive', exercise_style: 'european', contract_value: '10', tick_size: '0.5' },
    ],
    holidays: [
      {
        ...{ name: 'A day', holiday_code: 'HOLIDAY_A_DAY', calendar_date: '2027-01-13' },
        ...{ asset_name: 'stock', country_iso_code: 'US', symbol: '*', session_template: 'CLOSED' },
      },
      { priority: '7', announced: '2027-01-02' },
    ],
    'economic-events': [
      { country_iso_code: 'US', event_code: 'A', event_name: 'A', event_timestamp: '2025-02-03T14:30:00Z' },
      { importance: '3', impact: 'high', actual_value: '5', period: 'Jan', source_id: 'a'.repeat(64) },
    ],
    'economic-event-codes': [{ country_iso_code: 'US', event_code: 'A', description: 'Says it.' }, {}],
  };

const BAD = '?\u00e9 bad';
function optionalOf(dataset: string, row: object): string[] {
  const { needed, optional } = namesOf(
    dataset === 'bars' ? barFields : fileDatasetNamed(dataset)!.file.fields,
  );
  return optional.filter((field) => !needed.includes(field) && !Object.hasOwn(row, field));
}

/** A file whose columns of the row have other names, and the map that names them. */
function mapped(
  dataset: string,
  row: Record<string, string>,
  more: Record<string, string>,
  header?: boolean,
) {
  const names = Object.keys(row).map((field) => `the ${field}`);
  const columns = Object.fromEntries(Object.keys(row).map((field) => [field, `the ${field}`]));
  const path = vendor.shop.path(`${dataset}.json`);
  const all = [...names, ...Object.keys(more)];
  writeFileSync(path, JSON.stringify(header ? { columns, header: all } : { columns }));
  const lines = [...(header ? [] : [all]), [...Object.values(row), ...Object.values(more)]];
  const flags: Flags = { dataset, map: path };
  return { content: lines.map((cells) => `${cells.join()}\n`).join(''), flags };
}

/** What a store has of rows and bars. */
const kept = (): unknown =>
  Object.entries(contentOf(vendor.url)).filter(
    ([table]) => table === 'bar_blocks' || fileDatasets.some(({ name }) => name === table),
  );

for (const [dataset, [row, poison]] of Object.entries(good)) {
  test(`${dataset}: columns with the names of fields that a map does not name are ignored and listed (contract 11)`, async () => {
    const { content, flags } = mapped(dataset, row, {});
    assert.equal((await vendor.import('a.csv', content, flags)).rowsNew, 1);
    const clean = kept();
    const optional = optionalOf(dataset, row);
    for (const more of [Object.fromEntries(optional.map((field) => [field, BAD])), poison]) {
      const odd = mapped(dataset, row, more);
      const report = await vendor.import('a.csv', odd.content, odd.flags);
      assert.deepEqual(report.refused, []);
      assert.deepEqual(report.ignoredColumns, Object.keys(more));
      assert.deepEqual(kept(), clean);
    }
  });

  test(`${dataset}: what a map, its header, its values or a flag names is read (contract 11)`, async () => {
    const all = mapped(dataset, { ...row, ...poison }, {});
    const report = await vendor.import('a.csv', all.content, all.flags);
    assert.deepEqual([report.rowsNew, report.ignoredColumns], [1, []]);
    const wanted = kept();
    const headed = mapped(dataset, row, poison, true);
    assert.deepEqual((await vendor.import('a.csv', headed.content, headed.flags)).ignoredColumns, []);
    assert.deepEqual(kept(), wanted);
    // A price is never the same in every row.
    if (dataset === 'bars') return;
    const given = mapped(dataset, row, {});
    await vendor.import('a.csv', given.content, { ...given.flags, fields: poison });
    assert.deepEqual(kept(), wanted);
    const own = [Object.keys({ ...row, ...poison }), Object.values({ ...row, ...poison })];
    const map = vendor.shop.path('values.json');
    writeFileSync(map, JSON.stringify({ values: poison }));
    await vendor.import('a.csv', own.map((cells) => `${cells.join()}\n`).join(''), { dataset, map });
    assert.deepEqual(kept(), wanted);
  });
}

test('amounts and shares, of which each kind of action needs its own, come from columns of their own names too (contract 11)', async () => {
  const path = vendor.shop.path('actions.json');
  writeFileSync(path, JSON.stringify({ columns: { ex_date: 'Date', cash_amount: 'Paid' } }));
  const rows = ['US,A,dividend,2025-02-03,0.5,,,EUR', 'US,A,split,2025-03-03,,1,4,EUR'];
  const content = [
    'country_iso_code,symbol,action_type,Date,Paid,split_from,split_to,currency',
    ...rows,
  ].join('\n');
  const report = await vendor.import('a.csv', content, { dataset: 'corporate-actions', map: path });
  assert.deepEqual([report.rowsNew, report.ignoredColumns], [2, ['currency']]);
});

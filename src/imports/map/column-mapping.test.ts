// Which column or flag gives a field, and the messages where none does (contract 11, contract 10).
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { nearest } from '../../base/words.ts';
import { barFields } from '../../store/schema/bars.ts';
import { optionContracts } from '../../store/schema/options.ts';
import { instrumentFields } from '../../store/schema/reference.ts';
import { FileProblem } from '../read/file-problem.ts';
import { readMappingFile } from './choose-mapping.ts';
import { type ColumnMapping, type FieldNames, findSources, namesOf, noMapping } from './column-mapping.ts';

const folder = mkdtempSync(join(tmpdir(), 'bourse-mapping-'));
after(() => rmSync(folder, { recursive: true }));

type Given = {
  readonly fields?: FieldNames;
  readonly map?: Partial<ColumnMapping>;
  readonly flags?: Readonly<Record<string, string>>;
};

const names = { asset_schema: 'stock', country_iso_code: 'US', symbol: 'A', interval: '1M' };

function mapped(header: string, { fields = namesOf(barFields), map = {}, flags = names }: Given = {}) {
  const whole = { ...noMapping, ...map };
  return findSources('prices.csv', header.split(','), fields, whole, new Map(Object.entries(flags)));
}

function problemOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof FileProblem, String(error));
    assert.equal(error.kind, /missing:|has no column/.test(error.message) ? 'unfit' : 'usage');
    assert.doesNotMatch(error.message, /\n/);
    return error.message;
  }
  return assert.fail('nothing was wrong');
}

test('the numbers of every dataset have the decimal mark of the mapping', () => {
  const fields = namesOf(optionContracts.file.fields);
  const columns = { contract_value: { column: 'size', decimal: ',' } } as const;
  const { derived } = mapped([...fields.required, 'size'].join(), { fields, map: { columns }, flags: {} });
  assert.deepEqual(derived.flatMap(({ reported }) => reported).sort(), ['size', 'strike_price']);
});

test('columns with the names of fields give them; others are listed as ignored', () => {
  const { columns, values, ignored } = mapped('when,datetime,open,high,low,close,vwap,Volume');
  assert.deepEqual([...columns.keys()].sort(), ['close', 'datetime', 'high', 'low', 'open', 'vwap']);
  assert.deepEqual(Object.fromEntries(values), names);
  assert.deepEqual(ignored, ['when', 'Volume']);
});

test('a flag wins over the map’s value, that over a column', () => {
  const header = 'datetime,open,high,low,close,symbol,interval,country_iso_code,asset_schema';
  const given = { map: { values: { symbol: 'MAP', interval: '5M' } }, flags: { symbol: 'FLAG' } };
  const { columns, values, ignored } = mapped(header, given);
  assert.deepEqual(Object.fromEntries(values), { symbol: 'FLAG', interval: '5M' });
  assert.equal(columns.get('country_iso_code'), 'country_iso_code');
  assert.deepEqual(ignored, ['symbol', 'interval']);
});

test('a mapping gives a field another column, and the column of its own name is then ignored', () => {
  const { columns, ignored } = mapped('datetime,open,high,low,close,adj_close', {
    map: { columns: { close: 'adj_close' } },
  });
  assert.equal(columns.get('close'), 'adj_close');
  assert.deepEqual(ignored, ['close']);
});

test('beside a mapping of columns an optional field comes from a column of its own name only where the mapping names it', () => {
  const header = 'when,open,high,low,close,volume,vwap,exchange';
  const columns = { datetime: 'when' };
  const found = mapped(header, { map: { columns, values: { exchange: 'XNAS' } } });
  assert.deepEqual([...found.columns.keys()].sort(), ['close', 'datetime', 'high', 'low', 'open']);
  assert.equal(found.values.get('exchange'), 'XNAS');
  assert.deepEqual(found.ignored, ['volume', 'vwap', 'exchange']);
  const named = mapped(header, { map: { columns: { ...columns, volume: 'volume' } } });
  assert.deepEqual(named.ignored, ['vwap', 'exchange']);
  assert.deepEqual(mapped(header, { map: { columns, header: header.split(',') } }).ignored, []);
});

test('two fields may come from one column', () => {
  const { columns } = mapped('datetime,price', {
    map: { columns: { open: 'price', high: 'price', low: 'price', close: 'price' } },
  });
  assert.deepEqual(
    [...columns].filter(([, column]) => column === 'price').map(([field]) => field),
    ['open', 'high', 'low', 'close'],
  );
});

/** What the message of a header without something says, and does not say. */
const missing: readonly (readonly [header: string, given: Given, says: readonly RegExp[], not?: RegExp])[] = [
  [
    'datetime,open,high,low',
    {},
    [/^prices\.csv: /, /column missing: close/, /The columns of the file are datetime, open, high, low\./],
  ],
  [
    'datetime,open,high,low,clsoe',
    {},
    [/If the file has them under other names, use --map FILE with \{"columns":\{"close":"clsoe"\}\}/],
  ],
  [
    'Date,Open,High,Low,Close,Ticker',
    { flags: { asset_schema: 'stock', country_iso_code: 'US', interval: 'DAY' } },
    [
      /--map FILE with \{"columns":\{"datetime":"Date","open":"Open","high":"High","low":"Low","close":"Close","symbol":"Ticker"\}\}/,
    ],
    /given as/,
  ],
  [
    'datetime,open,high,low,clsoe,volume',
    {},
    [/use --map FILE with \{"columns":\{"volume":"volume","close":"clsoe"\}\}/],
  ],
  [
    'Date,Open,High,Low,foo',
    {},
    [
      /missing: datetime, open, high, low, close\./,
      /--map FILE with \{"columns":\{.*"low":"Low","close":"…"\}\}, and put a column of the file in place of each …\./,
    ],
  ],
  ['symbol,date,dividend', {}, [/missing: datetime, open, high, low, close\./], /--map/],
  [
    'Date,Open,High,Low,Close,V',
    { flags: {}, map: { columns: { volume: 'V' }, values: { symbol: 'A' } } },
    [
      /--map FILE with \{"columns":\{"volume":"V","datetime":"Date",.*"close":"Close"\},"values":\{"symbol":"A"\}\}\./,
      /give it as a flag: --schema, --country, --interval\./,
    ],
  ],
  [
    'datetime,open,high,low,foo',
    {},
    [
      /missing: close\./,
      /with \{"columns":\{"close":"…"\}\}, and put a column of the file in place of each …\./,
    ],
  ],
  [
    'datetime,open,high,low,close',
    { flags: { asset_schema: 'stock' } },
    [
      /columns missing: country_iso_code, symbol, interval\./,
      /is the same in every row, give it as a flag: --country, --symbol, --interval\./,
    ],
    /--schema/,
  ],
  [
    'datetime,open,high,low,close,symbols,interval',
    { flags: { asset_schema: 'stock', country_iso_code: 'US' } },
    [/\{"symbol":"symbols"\}/],
    /--interval/,
  ],
  [
    'underlying,underlying_close,occ_symbol,expiration_date,option_type,strike_price',
    {
      fields: namesOf(optionContracts.file.fields),
      flags: { parent_asset_schema: 'stock', country_iso_code: 'US' },
    },
    [/with \{"columns":\{"symbol":"occ_symbol","underlying_name":"underlying"\}\}\./],
  ],
  ['name,currency', { fields: namesOf(instrumentFields), flags: {} }, [/--schema/, /--country/, /--symbol/]],
];

for (const [header, given, says, not] of missing) {
  test(`the header ${header} is refused with what is missing and what would give it`, () => {
    const message = problemOf(() => mapped(header, given));
    for (const part of says) assert.match(message, part);
    if (not !== undefined) assert.doesNotMatch(message, not);
  });
}

test('a column that gives a field already is not proposed for another', () => {
  const message = problemOf(() => mapped('datetime,open,high,close', {}));
  assert.match(message, /missing: low/);
  assert.doesNotMatch(message, /--map/);
});

test('a map that names an unknown field or column is refused with those there are', () => {
  const header = 'datetime,open,high,low,close';
  const unknown = problemOf(() => mapped(header, { map: { columns: { price: 'close' } } }));
  assert.match(unknown, /a field price .*datetime, open, high, low, close/);
  const valued = problemOf(() => mapped(header, { map: { values: { ticker: 'A' } } }));
  assert.match(valued, /a field ticker/);
  const column = problemOf(() => mapped(header, { map: { columns: { close: 'last' } } }));
  assert.match(column, /prices\.csv: has no column last, .*its columns are datetime, open, high, low, close/);
  const inherited = problemOf(() => mapped(header, { map: { columns: { constructor: 'close' } } }));
  assert.match(inherited, /a field constructor/);
});

let files = 0;
function mapFile(content: string): string {
  const path = join(folder, `${++files}.json`);
  writeFileSync(path, content);
  return path;
}

test('a mapping file gives columns and values; both may be left out', () => {
  const said = (content: string) => {
    const { locate: _, ...map } = readMappingFile(mapFile(content));
    return map;
  };
  assert.deepEqual(said('{"columns": {"datetime": "open_utc"}, "values": {"symbol": "X"}}'), {
    columns: { datetime: 'open_utc' },
    values: { symbol: 'X' },
  });
  assert.deepEqual(said('{}'), noMapping);
  assert.deepEqual(said('{"values": {"symbol": "X"}}'), { columns: {}, values: { symbol: 'X' } });
});

const badMaps: readonly (readonly [what: string, path: () => string, says: RegExp])[] = [
  ['that is not there', () => join(folder, 'none.json'), /cannot be read \(ENOENT\)/],
  ['that is a folder', () => folder, /cannot be read \(EISDIR\)/],
  ['that is not JSON', () => mapFile('datetime: open_utc'), /is not JSON/],
  ['that is empty', () => mapFile(''), /is not JSON/],
  ['that is a list', () => mapFile('[]'), /is not a JSON object/],
  ['that is null', () => mapFile('null'), /is not a JSON object/],
  ['that is text', () => mapFile('"columns"'), /is not a JSON object/],
  [
    'with another part',
    () => mapFile('{"datetime": "open_utc"}'),
    /a mapping file has no "datetime"; it may have columns, values, header/,
  ],
  ['with a list of columns', () => mapFile('{"columns": ["open_utc"]}'), /"columns" must be an object/],
  ['with null for values', () => mapFile('{"values": null}'), /"values" must be an object/],
  ['with a number for a column', () => mapFile('{"columns": {"open": 2}}'), /"columns": "open" must be text/],
  [
    'with a number for a value',
    () => mapFile('{"values": {"volume": 0}}'),
    /"values": "volume" must be text/,
  ],
];

for (const [what, path, says] of badMaps) {
  test(`a mapping file ${what} is wrong usage and named`, () => {
    const file = path();
    const message = problemOf(() => readMappingFile(file));
    assert.match(message, says);
    assert.ok(message.includes(file), message);
  });
}

test('the nearest spelling is found in any letter case, and nothing far away', () => {
  assert.equal(nearest('bras', ['bars', 'instruments']), 'bars');
  assert.equal(nearest('OPEN', ['close', 'open']), 'open');
  assert.equal(nearest('America/NewYork', ['America/New_York', 'Asia/Tokyo']), 'America/New_York');
  assert.equal(nearest('quotes', ['bars', 'instruments']), undefined);
  assert.equal(nearest('x', []), undefined);
});

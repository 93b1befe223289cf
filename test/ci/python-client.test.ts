// The Python client: against a service, and against one that fails. Its tests are in clients/python/tests.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import type { Endpoint } from '../../src/contract/endpoint.ts';
import { errors } from '../../src/contract/errors.ts';
import type { ObjectSchema, Schema } from '../../src/contract/fields.ts';
import { type AllEndpoints, allEndpoints, contract } from '../../src/contract/index.ts';
import { python, pythonClient, skipPython } from '../python.ts';
import { command, type Finished, Workshop } from '../service.ts';

const shop = new Workshop();
after(() => shop.close());

function run(words: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<Finished> {
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: pythonClient, ...environment };
  return new Promise((resolve) => {
    execFile(python!, words, { cwd: shop.folder, env, timeout: 120_000 }, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
    });
  });
}

/** Runs a file of tests; fails with what it printed. */
async function passes(file: string, environment: NodeJS.ProcessEnv): Promise<void> {
  const path = join(pythonClient, 'tests', file);
  const { status, stderr } = await run(['-W', 'ignore::ResourceWarning', path], environment);
  assert.equal(status, 0, stderr);
  assert.match(stderr, /^Ran \d\d tests/m);
}

const cell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

function writeRows(name: string, columns: string, rows: readonly (readonly string[])[]): string {
  const path = shop.path(name);
  const lines = rows.map((row) => row.map(cell).join());
  writeFileSync(path, [columns, ...lines, ''].join('\n'));
  return path;
}

const importRows = (dataset: string, path: string, ...flags: readonly string[]): Promise<string> =>
  shop.must('import', dataset, path, ...flags);

/** Minutes of whole sessions of New York: 2025-03-10 is the first after the clocks changed. */
const sessions = ['03T14:30', '04T14:30', '05T14:30', '06T14:30', '07T14:30', '10T13:30'];

/** Prices of 15 digits, which a hasty reading does not give back. */
function minutesOf(days: readonly string[]): string[][] {
  return days.flatMap((day) =>
    Array.from({ length: 390 }, (_, minute) => {
      const open = new Date(Date.parse(`2025-03-${day}:00Z`) + minute * 60_000).toISOString();
      const digits = String((minute * 7_919 + 104_729) % 1_000_000_007).padStart(12, '0');
      const [low, high] = [`123.${digits}`, `124.${digits}`];
      return [open.replace('.000Z', 'Z'), low, high, low, high, `${minute}.25`, minute % 3 === 0 ? '' : low];
    }),
  );
}

const BAR_COLUMNS = 'datetime,open,high,low,close,volume,vwap';
const US_STOCK = ['--schema', 'stock', '--country', 'US'];

async function importBars(): Promise<void> {
  const minutes = writeRows('minutes.csv', BAR_COLUMNS, minutesOf(sessions));
  await importRows('bars', minutes, ...US_STOCK, '--symbol', 'AAPL', '--interval', '1M');
  const fixed = minutesOf(sessions.slice(0, 3));
  const file = writeRows('fixed.csv', BAR_COLUMNS, fixed);
  await importRows('bars', file, ...US_STOCK, '--symbol', 'FIXED', '--interval', '1M');
  const [datetime] = fixed.at(-1)!;
  writeRows('corrected.csv', BAR_COLUMNS, [[datetime!, '123.5', '123.75', '123.5', '123.75', '7', '']]);
  const early = Array.from({ length: 10 }, (_, at) => [`2025-04-01T12:0${at}:00Z`, '1', '1', '1', '1', '1']);
  const pre = writeRows('pre.csv', 'datetime,open,high,low,close,volume', early);
  await importRows('bars', pre, ...US_STOCK, '--symbol', 'PRE', '--interval', '1M');
  const days = ['2020-08-27', '2020-08-28', '2020-08-31'];
  const daily = days.map((day, at) => [day, '500', '508', '498', '504', at < 2 ? '100' : '400']);
  const gamma = writeRows('days.csv', 'datetime,open,high,low,close,volume', daily);
  const ofDays = ['--symbol', 'GAMMA', '--interval', 'DAY', '--complete-from', '2020-08-24T13:30:00Z'];
  await importRows('bars', gamma, ...US_STOCK, ...ofDays);
  const odd = ['US,NA', 'US,NULL', 'HK,0700', 'US,BF/B', 'US,A+B&C#D=E~F', 'UK,TRUE', 'US,1E5'];
  const oddDays = odd.map((name, at) => [...name.split(','), '2025-03-03', '1', '9', '1', `${at + 1}.5`]);
  const odds = writeRows('odd.csv', 'country_iso_code,symbol,datetime,open,high,low,close', oddDays);
  await importRows('bars', odds, '--schema', 'stock', '--interval', 'DAY');
  const coin = [['2025-03-01T12:00:00Z', '84000.5', '84001', '84000', '84000.25', '0.12345678', '84000.5']];
  const crypto = writeRows('crypto.csv', BAR_COLUMNS, coin);
  const flags = ['--schema', 'crypto', '--country', 'GLOBAL', '--symbol', 'BTCUSD', '--interval', '1M'];
  await importRows('bars', crypto, ...flags);
}

async function importLists(): Promise<void> {
  const actions = [
    ['dividend', '2020-08-07', '0.82', '', ''],
    ['split', '2020-08-31', '', '1', '4'],
  ];
  const file = writeRows('actions.csv', 'action_type,ex_date,cash_amount,split_from,split_to', actions);
  await importRows('corporate-actions', file, '--country', 'US', '--symbol', 'GAMMA');
  const titles = ['NA', '=1+1', 'a, "b"\r\nc', 'null', '0700', 'Zürich 株価 🐂', "'"];
  const news = Array.from({ length: 1_205 }, (_, at) => [
    new Date(Date.parse('2025-01-01T00:00:00Z') + at * 60_000).toISOString().replace('.000Z', 'Z'),
    `${titles[at % titles.length]!}`,
    `https://news.example.com/${at}`,
    at % 2 === 0 ? '' : `${titles[(at + 1) % titles.length]} ${at}\n`,
    ...['stock', 'US', 'AAPL'],
  ]);
  const newsColumns = 'published_date,title,publisher_url,text_content,asset_name,country_iso_code,symbol';
  await importRows('news', writeRows('news.csv', newsColumns, news));
  const events = ['1', '2', '3'].map((importance) => [
    ...['US', 'GDP_GROWTH_RATE_QOQ', 'Growth', `2025-0${importance}-15T13:30:00Z`, `${importance}.1`],
    importance,
  ]);
  const eventColumns = 'country_iso_code,event_code,event_name,event_timestamp,actual_value,importance';
  await importRows('economic-events', writeRows('events.csv', eventColumns, events));
  const contracts = Array.from({ length: 1_150 }, (_, at) => {
    const thousandths = 90_100 + at * 100;
    const symbol = `AAPL991218C${String(thousandths).padStart(8, '0')}`;
    return [symbol, 'US', 'stock', 'AAPL', String(thousandths / 1_000), '2099-12-18', 'call'];
  });
  const contractColumns =
    'symbol,country_iso_code,parent_asset_schema,underlying_name,strike_price,expiration_date,option_type';
  await importRows('option-contracts', writeRows('contracts.csv', contractColumns, contracts));
}

/** The lists that the client reads as CSV. */
const lists: readonly Endpoint[] = [
  ...[contract.historicalBars, contract.corporateActions, contract.newsList, contract.optionSearch],
  ...[contract.optionExpirations, contract.holidayList, contract.economicEvents, contract.seriesCoverage],
  ...[contract.sessionCoverage, contract.findings, contract.runs],
];

/** The method of each endpoint; `latest` has two, for one symbol and for a list. */
const methods: Readonly<Record<keyof AllEndpoints, string>> = {
  historicalBars: 'bars',
  latestBars: 'latest',
  latestOfMany: 'latest',
  bulkBars: 'bulk',
  instrumentReference: 'reference',
  instrumentSearch: 'search',
  corporateActions: 'actions',
  newsList: 'news',
  latestNews: 'latest_news',
  optionSearch: 'options',
  optionExpirations: 'expirations',
  holidayList: 'holidays',
  holidayCodes: 'holiday_codes',
  economicEvents: 'events',
  latestEconomicEvents: 'latest_events',
  economicEvent: 'event',
  economicEventCodes: 'event_codes',
  seriesCoverage: 'coverage',
  sessionCoverage: 'sessions',
  findings: 'findings',
  runs: 'runs',
  addressInfo: 'address_info',
};

/** A value of each parameter, as the service gets it. */
const values: Readonly<Record<string, string>> = {
  ...{ schema_asset: 'stock', country_symbol: 'US:AAPL', full_symbol: 'stock:US:AAPL', interval: 'DAY' },
  ...{ country_iso_code: 'US', symbols: 'AAPL,MSFT', query: 'apple', from_date: '2025-03-03' },
  ...{ to_date: '2025-03-04', as_of: '2025-03-05T10:00:00Z', data_version: '7', sort: 'desc', limit: '9' },
  ...{ is_eth: 'true', adjust: 'split', adjust_as_of: '2025-03-02', action_type: 'split', extended: 'true' },
  ...{ option_type: 'call', moneyness: 'in_the_money', ref_asset_price: '1.5', strike_price: '2.5' },
  ...{ expiration_date: '2025-12-19', adjusted: 'true', sort_by: 'symbol', holiday_code: 'HOLIDAY_X' },
  ...{ event_code: 'GDP', source_id: 'ab', impact: 'high', date_type: 'upcoming', kind: 'gap' },
  ...{ severity: 'info', columns: 'country_iso_code,symbol,datetime,session_date,close' },
};

/** Values of an endpoint that are others: its symbols have their country. */
const ownValues: Readonly<Record<string, typeof values>> = { latestOfMany: { symbols: 'US:AAPL,US:MSFT' } };

const sentValue = (endpoint: string, name: string): string => ownValues[endpoint]?.[name] ?? values[name]!;

/** What the client sets itself, the form of instants, which frames have, and another name of `adjust`. */
const own = ['format', 'csv_safe', 'session_date', 'next_page_key', 'adjustment', 'timestamps', 'tz'];

/** Those that a method does not have, with the reason. */
const leftOut: Readonly<Record<string, readonly string[]>> = {
  // A frame of bars has all of them, by time.
  historicalBars: ['sort', 'limit'],
  // Not taken yet.
  optionSearch: ['strike_from', 'strike_to', 'expiration_from', 'expiration_to'],
};

/** The names of parameters in Python. */
const names: Readonly<Record<string, string>> = {
  ...{ from_date: 'start', to_date: 'end', country_iso_code: 'country', full_symbol: 'symbol' },
  schema_asset: 'schema',
};

/** The arguments of a call with a value for each of some parameters. */
function argumentsOf(endpoint: string, parameters: readonly string[]): Record<string, unknown> {
  const given = new Map<string, unknown>(
    parameters.map((name) => [names[name] ?? name, sentValue(endpoint, name)]),
  );
  const rename = (name: string, to: string, value: unknown): void => {
    if (given.delete(name)) given.set(to, value);
  };
  if (endpoint === 'bulkBars') {
    given.delete('schema');
    rename('country', 'market', 'stock:US');
  }
  if (endpoint === 'latestOfMany') given.delete('schema');
  if (given.has('symbols')) given.set('symbols', sentValue(endpoint, 'symbols').split(','));
  if (given.has('country_symbol')) given.delete('schema');
  const isOfBars = endpoint === 'historicalBars' || endpoint === 'latestBars';
  rename('country_symbol', isOfBars ? 'symbols' : 'symbol', 'US:AAPL');
  for (const name of ['is_eth', 'extended', 'adjusted']) if (given.has(name)) given.set(name, true);
  for (const name of ['limit', 'data_version', 'ref_asset_price', 'strike_price'])
    if (given.has(name)) given.set(name, Number(given.get(name)));
  return Object.fromEntries(given);
}

/** What a field holds, as its schema says. */
function kindOf(schema: Schema): string {
  const [plain] = (schema.anyOf as Schema[] | undefined) ?? [schema];
  const { type, format } = plain as { readonly type?: string; readonly format?: string };
  if (type === 'integer') return type;
  return format ?? (type === 'string' || type === undefined ? 'text' : type);
}

/** The kinds of the fields of each list. A factor is a text of digits, and a number in frames. */
const fields = Object.fromEntries(
  lists.map(({ summary, record }) => [
    summary,
    Object.fromEntries(
      Object.entries((record as ObjectSchema).properties).map(([name, schema]) => [
        name,
        name === 'adjustment_factor' ? 'number' : kindOf(schema),
      ]),
    ),
  ]),
);

suite('the Python client', { skip: skipPython, concurrency: 3 }, () => {
  let environment: NodeJS.ProcessEnv = {};

  before(async () => {
    await importBars();
    await importLists();
    const key = await shop.must('keys', 'create', 'python');
    const server = await shop.serve();
    environment = {
      BOURSE_TEST_URL: server.url,
      BOURSE_TEST_KEY: key,
      BOURSE_TEST_FOLDER: shop.folder,
      BOURSE_TEST_COMMAND: command,
      BOURSE_STORE: shop.store,
    };
  });

  test('every method gives what was imported, all pages of it (contract 3.12, 4.1, 5.1, 5.2, 9.4, 9.5, 9.7, 9.8)', () =>
    passes('test_service.py', environment));

  test('it waits as Retry-After says, takes no part for the whole, and tells no key (contract 5.2, 6.3, 7.4, 9.7)', () => {
    const words = Object.entries(errors).map(([word, { status }]) => [word, status]);
    return passes('test_failing.py', {
      BOURSE_WORDS: JSON.stringify(Object.fromEntries(words)),
      BOURSE_FIELDS: JSON.stringify(fields),
    });
  });

  test('it has a method for each endpoint, which sends each parameter (contract 9.9, 9.10, 9.12)', async () => {
    const asked = Object.entries(allEndpoints as Readonly<Record<string, Endpoint>>).map(
      ([endpoint, { path, parameters }]) => ({
        ...{ endpoint, path },
        parameters: Object.keys(parameters).filter(
          (name) => !own.includes(name) && !leftOut[endpoint]?.includes(name),
        ),
      }),
    );
    const calls = asked.map(({ endpoint, parameters }) => [
      methods[endpoint as keyof typeof methods],
      argumentsOf(endpoint, parameters),
    ]);
    const sent = await run([join(pythonClient, 'tests/sent.py')], { BOURSE_CALLS: JSON.stringify(calls) });
    assert.equal(sent.status, 0, sent.stderr);
    const got = JSON.parse(sent.stdout) as {
      readonly methods: string[];
      readonly sent: [path: string, query: Record<string, string>][];
    };
    assert.deepEqual(got.methods, [...new Set(Object.values(methods))].sort());
    for (const [at, { endpoint, path, parameters }] of asked.entries()) {
      const [place, query] = got.sent[at]!;
      const inPath = (name: string): boolean => path.includes(`{${name}}`);
      const expected = path.replace(/\{(\w+)\}/g, (_, name: string) =>
        encodeURIComponent(sentValue(endpoint, name)),
      );
      assert.equal(place, expected, endpoint);
      for (const name of parameters.filter((one) => !inPath(one)))
        assert.equal(query[name], sentValue(endpoint, name), `${name} of ${endpoint}`);
      const others = Object.keys(query).filter((name) => !parameters.includes(name));
      const all = Object.keys(allEndpoints[endpoint as keyof AllEndpoints].parameters);
      assert.deepEqual(
        others.filter((name) => !all.includes(name)),
        [],
        endpoint,
      );
    }
  });
});

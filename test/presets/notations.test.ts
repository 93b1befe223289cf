// One security, one instrument: every pair of presets that name US stocks or coins, each in its vendor's
// notation (contract 9.21).
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { after, test } from 'node:test';
import { importFile, requestOf } from '../../src/imports/load/importers.ts';
import { chooseMapping } from '../../src/imports/map/choose-mapping.ts';
import type { MappedFile } from '../../src/imports/map/column-mapping.ts';
import { holdReader } from '../../src/imports/read/reader-process.ts';
import { openSources } from '../../src/imports/read/source.ts';
import { findZone } from '../../src/market/calendar/zone.ts';
import type { Store } from '../../src/store/store.ts';
import { Workshop } from '../service.ts';
import { openToWrite, rowsOf } from '../stores.ts';
import type { Flags } from './vendor.ts';

// To start a reader for each file takes three times as long as to import a small one.
process.once('exit', holdReader());
const shop = new Workshop();
after(() => shop.close());

/**
 * A kind of security: its suffix in each notation. The first columns are Nasdaq Trader's "Ticker Symbol
 * Convention"; the last one is that of the root of its options, undefined if it has none.
 */
type Suffixes = {
  readonly cqs: string;
  readonly cms: string;
  readonly nasdaq: string;
  readonly act: string;
  readonly yahoo: string;
  readonly stooq: string;
  readonly root?: string;
};

const kinds: readonly Suffixes[] = [
  { cqs: '', cms: '', nasdaq: '', act: '', yahoo: '', stooq: '', root: '' },
  { cqs: '.B', cms: '.B', nasdaq: '.B', act: '.B', yahoo: '-B', stooq: '-b', root: 'B' },
  { cqs: 'pA', cms: '.PRA', nasdaq: '-A', act: '$A', yahoo: '-PA', stooq: '_a' },
  { cqs: 'pR', cms: '.PRR', nasdaq: '-R', act: '$R', yahoo: '-PR', stooq: '_r' },
  { cqs: '.WS', cms: '.WS', nasdaq: '+', act: '.W', yahoo: '-WT', stooq: '-ws' },
  { cqs: '.U', cms: '.U', nasdaq: '=', act: '.U', yahoo: '-UN', stooq: '-u' },
  { cqs: 'r', cms: '.RT', nasdaq: '^', act: '.R', yahoo: '-RI', stooq: '-r' },
  { cqs: 'w', cms: '.WI', nasdaq: '#', act: '.V', yahoo: '-WI', stooq: '-wi' },
];

/** A file of one vendor. */
type VendorFile = { readonly name: string; readonly content: string; readonly flags?: Flags };

/** A preset: the notation of its files, the kinds that it has, and its files of some symbols. */
type Writer = {
  readonly preset: string;
  readonly notation: keyof Suffixes;
  /** Whether a file has one symbol. */
  readonly isOfOne?: true;
  /** Kinds that its files cannot name. */
  readonly lacks?: (kind: Suffixes) => boolean;
  readonly files: (symbols: readonly string[]) => VendorFile[];
};

const isClass = ({ cms }: Suffixes): boolean => cms === '.B';
const isPlain = ({ cms }: Suffixes): boolean => cms === '';
const hasNoOptions = ({ root }: Suffixes): boolean => root === undefined;
const us = { asset_schema: 'stock', country_iso_code: 'US' };
const day = '2025-04-16';
const open = `${Date.parse(`${day}T13:30:00Z`)}000000`;
const each = (symbols: readonly string[], file: (symbol: string) => VendorFile): VendorFile[] =>
  symbols.map(file);
const one = (name: string, lines: readonly string[], flags: Flags = {}): VendorFile[] => [
  { name, content: `${lines.join('\n')}\n`, flags: { prices: 'raw', ...flags } },
];

const bar = { t: `${day}T13:30:00Z`, o: 1, h: 1, l: 1, c: 1, v: 1, n: 1, vw: 1 };

/** Bars of a symbol in a file that it names. */
const rows = (interval: string, separator = ','): string[] =>
  interval === 'WEEK'
    ? ['2025-04-07', '2025-04-14', '2025-04-21'].map((date) => [date, 1, 1, 1, 1, 1, 1].join(separator))
    : ['2025-04-15', '2025-04-16', '2025-04-17'].map((date) => [date, 1, 1, 1, 1, 1, 1].join(separator));

const writers: readonly Writer[] = [
  {
    preset: 'massive',
    notation: 'cqs',
    files: (symbols) =>
      one('minute_aggs.csv', [
        'ticker,volume,open,close,high,low,window_start,transactions',
        ...symbols.map((symbol) => `${symbol},1,1,1,1,1,${open},1`),
      ]),
  },
  {
    preset: 'massive-news',
    notation: 'cqs',
    files: (tickers) => {
      const item = {
        title: 'T',
        published_utc: `${day}T13:30:00Z`,
        article_url: 'https://a.example/1',
        tickers,
      };
      const content = JSON.stringify({ results: [{ id: '1', publisher: { name: 'W' }, ...item }], count: 1 });
      return one('massive-news.json', [content], { dataset: 'news' });
    },
  },
  {
    preset: 'alpaca',
    notation: 'cms',
    files: (symbols) =>
      one(
        'alpaca.json',
        [
          JSON.stringify({
            bars: Object.fromEntries(symbols.map((symbol) => [symbol, [bar]])),
            next_page_token: null,
          }),
        ],
        { fields: { interval: '5M' } },
      ),
  },
  {
    preset: 'alpaca-news',
    notation: 'cms',
    files: (symbols) => {
      const item = {
        id: 1,
        headline: 'A',
        created_at: `${day}T13:31:00Z`,
        summary: '',
        url: 'https://a.example/2',
      };
      const content = JSON.stringify({ news: [{ ...item, symbols, source: 'w' }], next_page_token: null });
      return one('alpaca-news.json', [content], { dataset: 'news' });
    },
  },
  {
    preset: 'databento',
    notation: 'nasdaq',
    files: (symbols) =>
      one(
        'databento.csv',
        [
          'ts_event,rtype,publisher_id,instrument_id,open,high,low,close,volume,symbol',
          ...symbols.map((symbol) => `${day}T13:30:00.000000000Z,34,2,38,1.0,1.0,1.0,1.0,1,${symbol}`),
        ],
        { fields: us },
      ),
  },
  {
    preset: 'otherlisted',
    notation: 'act',
    files: (symbols) =>
      one(
        'otherlisted.txt',
        [
          'ACT Symbol|Security Name|Exchange|CQS Symbol|ETF|Round Lot Size|Test Issue|NASDAQ Symbol',
          ...symbols.map((symbol) => `${symbol}|Some Security|N|X|N|100|N|X`),
          'File Creation Time: 0416202521:31|||||||',
        ],
        { dataset: 'instruments' },
      ),
  },
  {
    preset: 'yahoo',
    notation: 'yahoo',
    isOfOne: true,
    files: (symbols) =>
      each(symbols, (symbol) => ({
        name: `${symbol}.csv`,
        content: ['Date,Open,High,Low,Close,Adj Close,Volume', ...rows('DAY'), ''].join('\n'),
        flags: { prices: 'raw', fields: us },
      })),
  },
  {
    preset: 'eodhd',
    notation: 'yahoo',
    isOfOne: true,
    files: (symbols) =>
      each(symbols, (symbol) => ({
        name: `${symbol}.US.csv`,
        content: ['Date,Open,High,Low,Close,Adjusted_close,Volume', ...rows('WEEK'), ''].join('\n'),
        flags: { prices: 'raw', fields: us },
      })),
  },
  {
    preset: 'eodhd-intraday',
    notation: 'yahoo',
    isOfOne: true,
    files: (symbols) =>
      each(symbols, (symbol) => ({
        name: `${symbol}.US.csv`,
        content: [
          'Timestamp,Gmtoffset,Datetime,Open,High,Low,Close,Volume',
          ...[0, 60].map((seconds) => `${Date.parse(`${day}T13:30:00Z`) / 1000 + seconds},0,x,1,1,1,1,1`),
          '',
        ].join('\n'),
        flags: { prices: 'raw', fields: us },
      })),
  },
  {
    preset: 'stooq',
    notation: 'stooq',
    files: (symbols) =>
      one(
        'stooq.txt',
        [
          '<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>',
          ...symbols.map((symbol) => `${symbol.toUpperCase()}.US,60,20250416,160000,1,1,1,1,1,0`),
        ],
        { zone: 'Europe/Warsaw', fields: us },
      ),
  },
  {
    preset: 'stooq-page',
    notation: 'stooq',
    isOfOne: true,
    files: (symbols) =>
      each(symbols, (symbol) => ({
        name: `${symbol}_us_d.csv`,
        content: ['Date,Open,High,Low,Close,Volume', ...rows('DAY').map((row) => row.slice(0, -2)), ''].join(
          '\n',
        ),
        flags: { prices: 'raw', fields: us },
      })),
  },
  {
    preset: 'tradingview',
    notation: 'cms',
    isOfOne: true,
    lacks: (kind) => !isClass(kind) && !isPlain(kind),
    files: (symbols) =>
      each(symbols, (symbol) => ({
        name: `NYSE_${symbol}, 15.csv`,
        content: `time,open,high,low,close,Volume\n${Date.parse(`${day}T13:30:00Z`) / 1000},1,1,1,1,1\n`,
        flags: { prices: 'raw', fields: us },
      })),
  },
  {
    preset: 'lean',
    notation: 'cms',
    isOfOne: true,
    files: (symbols) =>
      each(symbols, (symbol) => ({
        name: `equity/usa/hour/${symbol.toLowerCase()}.csv`,
        content: '20250416 10:00,10000,10000,10000,10000,1\n',
      })),
  },
  {
    preset: 'lean-factors',
    notation: 'cms',
    isOfOne: true,
    files: (symbols) =>
      each(symbols, (symbol) => ({
        name: `equity/usa/factor_files/${symbol.toLowerCase()}.csv`,
        content: '20121106,0.8650639,0.5,582.86\n20501231,1,1,0\n',
        flags: { dataset: 'corporate-actions' },
      })),
  },
  {
    preset: 'lean-map',
    notation: 'cms',
    isOfOne: true,
    files: (symbols) =>
      each(symbols, (symbol) => ({
        name: `equity/usa/map_files/${symbol.toLowerCase()}.csv`,
        content: `19980102,${symbol.toLowerCase()},N\n20501231,${symbol.toLowerCase()},N\n`,
        flags: { dataset: 'instruments' },
      })),
  },
];

const writerOf = (preset: string): Writer => writers.find((one) => one.preset === preset)!;

/**
 * Presets that name stocks by the roots of their options, or in the name of a folder, and one that knows no
 * suffixes.
 */
const contracts = { dataset: 'option-contracts' };
const others: readonly Writer[] = [
  {
    preset: 'nasdaqlisted',
    notation: 'cms',
    lacks: (kind) => !isPlain(kind),
    files: (symbols) =>
      one(
        'nasdaqlisted.txt',
        [
          'Symbol|Security Name|Market Category|Test Issue|Financial Status|Round Lot Size|ETF|NextShares',
          ...symbols.map((symbol) => `${symbol}|Some Security|Q|N|N|100|N|N`),
          'File Creation Time: 0416202521:31|||||||',
        ],
        { dataset: 'instruments' },
      ),
  },
  {
    preset: 'lean-universe',
    notation: 'cms',
    isOfOne: true,
    lacks: hasNoOptions,
    files: (symbols) =>
      each(symbols, (symbol) => ({
        name: `option/usa/universes/${symbol.toLowerCase()}/20250416.csv`,
        content:
          '#expiry,strike,right,open,high,low,close,volume,open_interest\n20260116,200,C,1,1,1,1,0,1\n',
        flags: contracts,
      })),
  },
  {
    preset: 'occ',
    notation: 'root',
    isOfOne: true,
    lacks: hasNoOptions,
    files: (symbols) =>
      each(symbols, (symbol) => ({
        name: `${symbol}.txt`,
        content: [
          `Series Search Results for ${symbol}`,
          'ProductSymbol\tyear\tMonth\tDay\tInteger\tDec\tC/P\tCall\tPut\tPosition Limit',
          `${symbol.padEnd(6)}\t\t2026\t10\t02\t250\t000\tC P \t3\t113\t25000000`,
          '',
        ].join('\n'),
        flags: contracts,
      })),
  },
  {
    preset: 'yfinance-chain',
    notation: 'root',
    lacks: hasNoOptions,
    files: (symbols) =>
      one(
        'chain.csv',
        [
          'contractSymbol,lastTradeDate,strike,lastPrice,bid,ask,change,percentChange,volume,openInterest,impliedVolatility,inTheMoney,contractSize,currency',
          ...symbols.map(
            (symbol) =>
              `${symbol}260116C00300000,2025-10-01 19:59:59+00:00,300.0,1,1,1,0,0,2,1,0.35,True,REGULAR,USD`,
          ),
        ],
        contracts,
      ),
  },
  {
    preset: 'massive',
    notation: 'root',
    lacks: hasNoOptions,
    files: (symbols) => writerOf('massive').files(symbols.map((symbol) => `O:${symbol}260116C00400000`)),
  },
];

/** Imports the files of a preset for securities: root and kind. What the reports find. */
async function imported(
  store: Store,
  { preset, notation, files }: Writer,
  securities: readonly (readonly [root: string, kind: Suffixes])[],
): Promise<string[]> {
  const found: string[] = [];
  const symbols = securities.map(([root, kind]) =>
    notation === 'stooq' ? root.toLowerCase() + kind.stooq : root + kind[notation],
  );
  if (symbols.length === 0) return found;
  for (const { name, content, flags = {} } of files(symbols)) {
    const { dataset = 'bars', zone, prices = 'raw', fields = {} } = flags;
    const path = shop.path(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    const sources = openSources(path, process.stdin, chooseMapping(dataset, preset, undefined));
    const file = (await sources.next()).value as MappedFile | Error;
    if (file instanceof Error) throw file;
    const said = { zone: zone === undefined ? undefined : findZone(zone)!, prices };
    const about = { flags: new Map(Object.entries(fields)), source: null, dryRun: false, nowMs: Date.now };
    const report = await importFile(store, dataset, { ...requestOf(file, said), ...about });
    await file.close();
    assert.equal(report.rowsRefused, 0, `${preset}: ${JSON.stringify(report.refused[0])}`);
    found.push(...Object.keys(report.findings));
  }
  return found;
}

/** Pairs of presets, and the securities of each: a root of its own with some kinds. */
function pairsOf(some: readonly Writer[], kinds: readonly Suffixes[], letter: string) {
  return some.flatMap((first, row) =>
    some.map((second, column) => {
      const at = row * some.length + column;
      const both = kinds
        .filter((kind) => [first, second].every(({ lacks }) => lacks?.(kind) !== true))
        // Nothing tells where a separator stood in a root whose stock is not known yet.
        .filter(({ root }) => first.notation !== 'root' || second.notation === 'root' || root === '');
      // Presets with a file for each symbol would take minutes: a pair of them tries one kind, and all pairs
      // together every kind.
      const tried = first.isOfOne || second.isOfOne ? [both[at % both.length]!] : both;
      const root = letter + String.fromCharCode(65 + Math.floor(at / 26), 65 + (at % 26));
      return { first, second, root, securities: tried.map((kind) => [root, kind] as const) };
    }),
  );
}

/**
 * Imports what the first preset of each pair writes, then what the second does. The instruments of each pair,
 * and words of reports.
 */
async function walked(some: readonly Writer[], kinds: readonly Suffixes[], schema: string, letter: string) {
  const pairs = pairsOf(some, kinds, letter);
  const found: string[] = [];
  const store = await openToWrite(shop.store);
  for (const role of ['first', 'second'] as const)
    for (const writer of some) {
      const own = pairs.filter((pair) => pair[role] === writer);
      found.push(
        ...(await imported(
          store,
          writer,
          own.flatMap(({ securities }) => securities),
        )),
      );
    }
  await store.close();
  const stored = rowsOf(shop.store, `select symbol from instruments where asset_schema = '${schema}'`);
  const symbols = stored.map(({ symbol }) => String(symbol));
  const walked = pairs.map((pair) => ({
    ...pair,
    symbols: symbols.filter((one) => one.startsWith(pair.root)),
  }));
  for (const { first, second, symbols, securities } of walked)
    assert.equal(
      symbols.length,
      securities.length,
      `${first.preset}, then ${second.preset}: ${symbols.join(' ')}`,
    );
  return { pairs: walked, found };
}

test('a stock that two vendors name is one instrument, whichever is imported first (contract 9.21)', async () => {
  const { pairs, found } = await walked([...writers, ...others], kinds, 'stock', 'Q');
  assert.ok(
    found.some((words) => /^stored under another notation of their symbol, Q\S+ as Q\S+/.test(words)),
  );
  // Whatever its symbol became, a request finds it by each vendor's name that is no other one's too.
  const massive = pairs.find(({ first, second }) => first === second && first.preset === 'massive')!;
  for (const [root, { cms, act, yahoo, nasdaq }] of massive.securities.filter(([, kind]) => !isPlain(kind))) {
    const names = [cms, act, cms.replace('.', ' '), ...(/^-[AR]$/.test(nasdaq) ? [] : [nasdaq])];
    if (yahoo !== '-PR') names.push(yahoo);
    const answers = new Set<string>();
    for (const name of names) {
      const path = `/api/v2/stock/reference/US:${encodeURIComponent(root + name)}`;
      answers.add(JSON.stringify((JSON.parse(await shop.must('query', path)) as { result: unknown }).result));
    }
    assert.equal(answers.size, 1, `${names.join(' ')}: ${[...answers].join()}`);
  }
});

const coin = { asset_schema: 'crypto', country_iso_code: 'GLOBAL' };

/** Coins: the pair's other half in each notation, in columns of suffixes. */
const coinKinds: readonly Suffixes[] = ['USD', 'USDT'].map((quote) => ({
  ...{
    cqs: `-${quote}`,
    cms: `/${quote}`,
    nasdaq: quote,
    act: quote,
    yahoo: `-${quote}`,
    stooq: quote.toLowerCase(),
  },
}));

const withPrefix =
  (prefix: string, { files }: Writer) =>
  (symbols: readonly string[]): VendorFile[] =>
    files(symbols.map((symbol) => prefix + symbol));
const asCoins = ({ files, ...writer }: Writer): Writer => ({
  ...writer,
  files: (symbols) =>
    files(symbols).map((file) => ({
      ...file,
      name: file.name.replace('.US.csv', '.CC.csv'),
      flags: {
        ...file.flags,
        fields: { ...file.flags?.fields, ...(file.flags?.fields?.country_iso_code && coin) },
      },
    })),
});

const coinWriters: readonly Writer[] = [
  { ...writerOf('massive'), files: withPrefix('X:', writerOf('massive')) },
  { ...writerOf('massive-news'), notation: 'nasdaq', files: withPrefix('X:', writerOf('massive-news')) },
  writerOf('alpaca'),
  // Its pairs without a separator are those with USD.
  { ...writerOf('alpaca-news'), notation: 'nasdaq', lacks: ({ nasdaq }) => nasdaq !== 'USD' },
  asCoins(writerOf('yahoo')),
  asCoins(writerOf('eodhd')),
  { ...asCoins(writerOf('tradingview')), notation: 'nasdaq', lacks: () => false },
  {
    preset: 'lean',
    notation: 'stooq',
    isOfOne: true,
    files: (symbols) =>
      each(symbols, (symbol) => ({
        name: `crypto/coinbase/hour/${symbol}_trade.csv`,
        content: '20250416 10:00,1,1,1,1,1\n',
      })),
  },
  {
    preset: 'binance',
    notation: 'nasdaq',
    isOfOne: true,
    files: (symbols) =>
      each(symbols, (symbol) => ({
        name: `${symbol}-30m-2025-04.csv`,
        content: '1744810200000,1,1,1,1,1,1744811999999,1,1,1,1,0\n',
      })),
  },
];

test('a coin that two vendors name is one instrument, whichever is imported first (contract 9.21)', async () => {
  await walked(coinWriters, coinKinds, 'crypto', 'C');
});

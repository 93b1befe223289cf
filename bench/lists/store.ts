// A store of the size that lists are designed for, made of rows straight through the store's port.
// Deterministic.
import { existsSync, renameSync } from 'node:fs';
import { DAY_MS, dayOf, formatDay, SECOND_MS } from '../../src/base/instant.ts';
import { openStore } from '../../src/store/engines.ts';
import { putInstrumentTerms } from '../../src/store/instrument-terms.ts';
import { corporateActions } from '../../src/store/schema/corporate-actions.ts';
import type { Dataset, RowOf } from '../../src/store/schema/dataset.ts';
import { events } from '../../src/store/schema/economic.ts';
import { news } from '../../src/store/schema/news.ts';
import { optionContracts } from '../../src/store/schema/options.ts';
import { instruments } from '../../src/store/schema/reference.ts';
import type { Writer } from '../../src/store/store.ts';
import { random, symbolOf } from '../minutes.ts';
import { type FileStore, tell, type Workshop } from '../workshop.ts';

/** Of a store with a layout of another number nothing is used again. */
const LAYOUT = 3;

/** Rows of each kind. */
export type ListSize = {
  readonly instruments: number;
  readonly events: number;
  /** Stocks that have corporate actions, 100 each. */
  readonly actionStocks: number;
  /** Underlyings of option contracts: the first has 20,000, each other one 2,000. */
  readonly underlyings: number;
  readonly news: number;
};

/** The size that lists are designed for, or a share of it, with so many news items. */
export const listSize = (share: number, news: number): ListSize => ({
  instruments: 200_000 * share,
  events: 1_000_000 * share,
  actionStocks: 10_000 * share,
  underlyings: Math.ceil(991 * share),
  news,
});

const ACTIONS_EACH = 100;
/** Stocks that news is of; the first one has 60,000 items. */
const NEWS_STOCKS = 5_000;
const NEWS_OF_FIRST = 60_000;

/** Where the days of news and events begin, and how many there are. */
export const FIRST_DAY = dayOf(2015, 1, 1);
export const DAYS = 4_000;

const ROWS_PER_WRITE = 5_000;
const words = [
  ...['Alder', 'Beacon', 'Cobalt', 'Dorset', 'Ember', 'Falcon', 'Granite', 'Harbor', 'Indigo', 'Juniper'],
  ...[
    'Keystone',
    'Lantern',
    'Meridian',
    'Nimbus',
    'Orchard',
    'Pioneer',
    'Quarry',
    'Ridge',
    'Summit',
    'Timber',
  ],
  ...['Union', 'Vector', 'Willow', 'Yonder', 'Zephyr', 'Atlas', 'Boreal', 'Cedar', 'Delta', 'Evergreen'],
];
const trades = [
  'Bank',
  'Energy',
  'Foods',
  'Health',
  'Logistics',
  'Media',
  'Metals',
  'Software',
  'Textiles',
  'Water',
];
const forms = ['Inc', 'Corp', 'Holdings', 'Group', 'Trust'];

/** Codes of events; the weight of one is that of its place. */
export const eventCodes = Array.from({ length: 100 }, (_, index) => `EMPLOYMENT_SERIES_${index}`);
export const eventCountries = ['US', 'UK', 'EU', 'DE', 'FR', 'JP', 'AU', 'CA', 'CH', 'HK'];

const pick = <T>(values: readonly T[], at: number): T => values[at % values.length]!;

const empty = <D extends Dataset>(dataset: D): Partial<RowOf<D>> =>
  Object.fromEntries(
    Object.entries(dataset.columns).flatMap(([name, column]) => ('nullable' in column ? [[name, null]] : [])),
  ) as Partial<RowOf<D>>;

/** The name of an instrument: three words and a number, as many shares of one house have. */
export const nameOf = (index: number): string =>
  `${pick(words, index)} ${pick(words, Math.floor(index / 30) + 7)} ${pick(trades, Math.floor(index / 900))} ${Math.floor(index / 9_000)} ${pick(forms, index)}`;

const blankInstrument = empty(instruments);

const instrument = (index: number) =>
  ({
    ...blankInstrument,
    asset_schema: 'stock',
    country_iso_code: 'US',
    symbol: symbolOf(index),
    instrument_id: index + 1,
    asset_id: index + 1,
    name: nameOf(index),
    exchange: 'XNAS',
    currency: 'USD',
    industry: pick(trades, Math.floor(index / 900)),
  }) as RowOf<typeof instruments>;

const blankContract = empty(optionContracts);

/** The contracts of an underlying by their symbols: expirations a quarter apart, strikes in steps of one. */
function* contractsOf(underlying: number, firstId: number): Generator<RowOf<typeof optionContracts>> {
  const [expirations, strikes] = underlying === 0 ? [40, 250] : [20, 50];
  const root = symbolOf(underlying);
  let id = firstId + (underlying === 0 ? 0 : 20_000 + (underlying - 1) * 2_000);
  for (let expiration = 0; expiration < expirations; expiration++) {
    const day = dayOf(2026, 1, 2) + expiration * 91;
    const dayText = formatDay(day).slice(2).replaceAll('-', '');
    for (const type of ['call', 'put'] as const) {
      for (let strike = 50; strike < 50 + strikes; strike++) {
        id++;
        yield {
          ...blankContract,
          country_iso_code: 'US',
          symbol: `${root}${dayText}${type === 'call' ? 'C' : 'P'}${String(strike * 1_000).padStart(8, '0')}`,
          parent_asset_schema: 'stock',
          underlying_name: root,
          option_type: type,
          expiration_date: day,
          strike_price: strike,
          exercise_style: 'american',
          status: 'active',
          instrument_id: id,
          asset_id: id,
          contract_value: 100,
        } as RowOf<typeof optionContracts>;
      }
    }
  }
}

function* contracts({
  underlyings,
  instruments: firstId,
}: ListSize): Generator<RowOf<typeof optionContracts>> {
  for (let underlying = 0; underlying < underlyings; underlying++) yield* contractsOf(underlying, firstId);
}

const blankAction = empty(corporateActions);

function* actions(stocks: number): Generator<RowOf<typeof corporateActions>> {
  for (let stock = 0; stock < stocks; stock++) {
    for (let quarter = 0; quarter < ACTIONS_EACH; quarter++) {
      const isSplit = quarter % 25 === 24;
      const own = isSplit
        ? { action_type: 'split', split_from: 1, split_to: 2 }
        : { action_type: 'dividend', cash_amount: 0.2 + quarter / 100, currency: 'USD', reference_price: 40 };
      yield {
        ...blankAction,
        country_iso_code: 'US',
        symbol: symbolOf(stock),
        ex_date: dayOf(2000, 2, 1) + quarter * 91 + (stock % 60),
        occurrence: 1,
        ...own,
      } as RowOf<typeof corporateActions>;
    }
  }
}

/** 64 hexadecimal digits in no order. */
function hexOf(next: () => number): string {
  let text = '';
  for (let part = 0; part < 8; part++)
    text += Math.floor(next() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  return text;
}

const blankEvent = empty(events);

function* eventRows(count: number): Generator<RowOf<typeof events>> {
  const next = random(5);
  const stepMs = (DAYS * DAY_MS) / count;
  for (let index = 0; index < count; index++) {
    const code = Math.floor(next() * eventCodes.length);
    const value = Math.round(next() * 1_000) / 10;
    yield {
      ...blankEvent,
      source_id: hexOf(next),
      country_iso_code: pick(eventCountries, Math.floor(next() * eventCountries.length)),
      event_code: eventCodes[code]!,
      event_name: `Series ${code} of employment`,
      event_driven_type: 'time_driven',
      rank: code % 4,
      // Many are published at one time.
      event_timestamp: FIRST_DAY * DAY_MS + Math.floor((index * stepMs) / 900_000) * 900_000,
      actual_value: value,
      previous_value: Math.round((value + next()) * 10) / 10,
      forecast_value: value,
      period: 'Jan',
      unit: '%',
    } as RowOf<typeof events>;
  }
}

const blankNews = empty(news);
const paragraph =
  'The company said on Thursday what it had done in the quarter and what it will do in the next. '.repeat(3);

/** Items in the order of time; a part of them is of the first stock, the rest of others at random. */
function* newsRows(count: number): Generator<RowOf<typeof news>> {
  const next = random(3);
  const first = Math.min(1, NEWS_OF_FIRST / count);
  const stepMs = (DAYS * DAY_MS) / count;
  for (let index = 0; index < count; index++) {
    const stock = next() < first ? 0 : Math.floor(next() * NEWS_STOCKS);
    yield {
      ...blankNews,
      // As long as a real one, and ascending: an index of a hash takes many times as long to fill.
      news_id: `${String(index).padStart(10, '0')}${symbolOf(stock)}NEWSITEM`.slice(0, 22),
      published_date: FIRST_DAY * DAY_MS + Math.floor((index * stepMs) / SECOND_MS) * SECOND_MS,
      asset_name: 'stock',
      country_iso_code: 'US',
      symbol: symbolOf(stock),
      sentiment_label: 'neutral',
      sentiment_score: Math.round(next() * 100) / 100,
      link_type: 'SPECIFIC_ASSET',
      publisher: 'Example Wire',
      title: `Headline ${index} about ${symbolOf(stock)}`,
      text_content: paragraph,
      publisher_url: `https://news.example.com/items/${index}`,
    } as RowOf<typeof news>;
  }
}

async function put<D extends Dataset>(writer: Writer, dataset: D, rows: Iterable<RowOf<D>>): Promise<void> {
  const startedMs = performance.now();
  let batch: RowOf<D>[] = [];
  let count = 0;
  for (const row of rows) {
    batch.push(row);
    count++;
    if (batch.length < ROWS_PER_WRITE) continue;
    await writer.upsert(dataset, batch);
    batch = [];
  }
  await writer.upsert(dataset, batch);
  const seconds = (performance.now() - startedMs) / 1000;
  tell(`  ${count.toLocaleString('en-US')} rows of ${dataset.name}: ${seconds.toFixed(0)} s`);
}

async function fill(writer: Writer, size: ListSize): Promise<void> {
  const stocks = Array.from({ length: size.instruments }, (_, index) => instrument(index));
  await put(writer, instruments, stocks);
  await putInstrumentTerms(
    writer,
    stocks.map((after) => ({ before: null, after })),
  );
  await put(writer, optionContracts, contracts(size));
  await put(writer, corporateActions, actions(size.actionStocks));
  await put(writer, events, eventRows(size.events));
  await put(writer, news, newsRows(size.news));
}

/** The store of a size, made unless an earlier run left it. */
export async function listStore(workshop: Workshop, size: ListSize): Promise<FileStore> {
  const kept = workshop.keptStore(`lists-${LAYOUT}-${size.instruments}-${size.news}`);
  if (existsSync(kept.path)) return kept;
  tell(`${kept.path}: a store of lists`);
  const fresh = `${kept.path}.new`;
  const store = await openStore(`sqlite:${fresh}`, 'write');
  await store.write((writer) => fill(writer, size));
  await store.close();
  renameSync(fresh, kept.path);
  return kept;
}

// What each endpoint must answer over the fuzzer's data, by the specification and the contract alone.
import assert from 'node:assert/strict';
import type { EndpointName } from '../../src/contract/index.ts';
import type { Texts } from './answers.ts';
import * as data from './data.ts';
import type { Came, Expectation, Expected, Good } from './expect.ts';
import { countryOf, dayOf, instantOf, judgeRange, lowerAscii, nameOf, sortTerms } from './grammar.ts';

type Oracle = (texts: Texts) => Expectation;
type Param = 'country_symbol' | 'full_symbol';

const DAY_MS = 86_400_000;
const rangeFaults = ['invalid_parameter from_date', 'invalid_parameter to_date'];

const known = new Set(data.names.map((name) => name.toUpperCase()));
const unless = (isRight: boolean, ...faults: readonly string[]): readonly string[] => (isRight ? [] : faults);
const unknownFaults = (name: string, param: Param): readonly string[] =>
  unless(known.has(name.toUpperCase()), `unknown_instrument ${param}`);

/** Where a name is known there is nothing to tell but what `rest` says. */
const named = (texts: Texts, rest: Omit<Expectation, 'faults'> = {}): Expectation => ({
  faults: unknownFaults(nameOf(texts), 'country_symbol'),
  ...rest,
});

const isDescending = ({ sort }: Texts, fallback = 'asc'): boolean => lowerAscii(sort ?? fallback) === 'desc';

/** Records by place, and the other way round. */
function arranged(list: readonly Expected[], descending: boolean): Expected[] {
  const sorted = list.toSorted((a, b) => (a.place < b.place ? -1 : a.place > b.place ? 1 : 0));
  return descending ? sorted.reverse() : sorted;
}

/** Whether a day lies in a range of dates (contract 2.2). */
const isBetween = (day: string, { from_date: from, to_date: to }: Texts): boolean =>
  (from === undefined || dayOf(from) <= day) && (to === undefined || day <= dayOf(to));

const dayRangeFaults = ({ from_date: from, to_date: to }: Texts): readonly string[] =>
  unless(from === undefined || to === undefined || dayOf(from) <= dayOf(to), ...rangeFaults);

/** The last millisecond of a bound; a date alone is a UTC day (contract 2.3). */
const endOf = (text: string): number => instantOf(text) + (text.length === 10 ? DAY_MS - 1 : 0);

const isWithin = (ms: number, { from_date: from, to_date: to }: Texts): boolean =>
  (from === undefined || instantOf(from) <= ms) && (to === undefined || ms <= endOf(to));

const instantRangeFaults = ({ from_date: from, to_date: to }: Texts): readonly string[] =>
  unless(from === undefined || to === undefined || instantOf(from) <= endOf(to), ...rangeFaults);

/** Where the last so many of a list begin. */
const lastOf = (count: number, limit: number): number => Math.max(0, count - limit);

// Reference (contract 8.1, 9.2).

const instrumentReference: Oracle = (texts) => {
  const name = nameOf(texts).toUpperCase();
  const [type, country_iso_code, symbol] = name.split(':') as [string, string, string];
  const row = data.instruments.find(
    (one) => `${one.asset_schema}:${one.country_iso_code}:${one.symbol}`.toUpperCase() === name,
  );
  const fields = { ...row, asset_schema: lowerAscii(type), country_iso_code, symbol };
  return named(texts, { list: [{ fields, place: '' }] });
};

const instrumentSearch: Oracle = (texts) => ({
  faults: [],
  check({ groups: [records] }) {
    const type = lowerAscii(texts.schema_asset!);
    const country = texts.country_iso_code === undefined ? null : countryOf(texts.country_iso_code);
    for (const record of records!) {
      assert.equal(record.asset_schema, type);
      if (country !== null) assert.equal(record.country_iso_code, country);
    }
    const query = texts.query!.toUpperCase();
    if (!/^[A-Z0-9]+$/.test(query)) return;
    const beginsSo = (symbol: unknown): boolean => String(symbol).startsWith(query);
    const wanted = data.names.filter((name) => {
      const [other, where, ...symbol] = name.split(':');
      return other === type && (country === null || where === country) && beginsSo(symbol.join(':'));
    });
    const limit = Number(texts.limit ?? 20);
    const count = records!.filter(({ symbol }) => beginsSo(symbol)).length;
    assert.equal(count, Math.min(limit, wanted.length), 'every symbol that begins so');
    assert.ok(
      records!.slice(0, count).every(({ symbol }) => beginsSo(symbol)),
      'symbols stand before names',
    );
    for (const { name } of records!.slice(count))
      assert.ok(String(name).toUpperCase().includes(query), `${String(name)}`);
  },
});

// Corporate actions (contract 4.5, 8.2).

const corporateActions: Oracle = (texts) => {
  const name = nameOf({ ...texts, schema_asset: 'stock' });
  const type = texts.action_type && lowerAscii(texts.action_type);
  const list = data.corporateActions
    .filter(([row]) => `stock:${row.country_iso_code}:${row.symbol}`.toUpperCase() === name.toUpperCase())
    .filter(([row]) => type === undefined || row.action_type === type)
    .filter(([{ ex_date }]) => isBetween(String(ex_date), texts))
    .map(([row, adjustment_factor]) => ({
      fields: {
        ...{ cash_amount: null, currency: null, split_from: null, split_to: null, pay_date: null, ...row },
        ...{ asset_schema: 'STOCK', ex_date__1: row.ex_date, adjustment_factor },
      },
      place: String(row.ex_date),
    }));
  return {
    faults: [...unknownFaults(name, 'country_symbol'), ...dayRangeFaults(texts)],
    list: arranged(list, false),
  };
};

// News (contract 4.6, 8.3).

const news = (texts: Texts): { readonly faults: readonly string[]; readonly list: Expected[] } => {
  const [type, country, symbol] = texts.full_symbol?.toUpperCase().replace(':GB:', ':UK:').split(':') ?? [];
  const list = data.news
    .filter((row) => type === undefined || String(row.asset_name).toUpperCase() === type)
    .filter((row) => country === undefined || row.country_iso_code === country)
    .filter((row) => symbol === undefined || symbol === '*' || row.symbol === symbol)
    .filter(({ published_date: date }) => isWithin(Date.parse(String(date)), texts))
    .map((fields) => ({ fields, place: String(fields.published_date) }));
  const isOne = symbol !== undefined && symbol !== '*';
  return {
    faults: isOne ? unknownFaults(`${type}:${country}:${symbol}`, 'full_symbol') : [],
    list: arranged(list, isDescending(texts)),
  };
};

const newsList: Oracle = (texts) => {
  const { faults, list } = news(texts);
  return { faults: [...faults, ...instantRangeFaults(texts)], list };
};

const latestNews: Oracle = (texts) => {
  const found = news(texts);
  const start = isDescending(texts) ? 0 : lastOf(found.list.length, Number(texts.limit ?? 100));
  return { ...found, start };
};

// Options (contract 8.4, 8.5).

/** Every instant that the fuzzer asks at lies between the expired and the others. */
const FAR_YEAR = '2099';
const priced = new Set<string>(data.barNames.map((name) => name.toUpperCase()));
/** Texts of equal length are in the order of their numbers. */
const numberPlace = (number: number): string => (number + 1e6).toFixed(6).padStart(20, '0');
const isExpired = (instant: string): boolean => instant < FAR_YEAR;

/** The place of a contract by one field; null where the data does not tell. */
function placeBy(field: string, row: data.Row, instant: string): string | null {
  if (field === 'expiration_datetime') return instant;
  if (field === 'instrument_id') return null;
  return field === 'strike_price' ? numberPlace(Number(row.strike_price)) : String(row[field]);
}

/** Text in the opposite order. */
const opposite = (text: string): string =>
  `${Array.from(text, (letter) => String.fromCharCode(0xffff - letter.charCodeAt(0))).join('')}\uffff`;

function contractPlace(row: data.Row, instant: string, price: number, sortBy: string | undefined): string {
  if (sortBy === undefined) {
    const time = isExpired(instant) ? `1${opposite(instant)}` : `0${instant}`;
    const strike = Number(row.strike_price);
    return [time, numberPlace(Math.abs(strike - price)), numberPlace(strike), row.symbol].join(' ');
  }
  const places: string[] = [];
  for (const { field, isDescending: isBackwards } of sortTerms(sortBy)) {
    const place = placeBy(field, row, instant);
    if (place === null) break;
    places.push(isBackwards ? opposite(place) : place);
  }
  return places.join('\0');
}

function optionList(texts: Texts, price: number): Expected[] {
  const { option_type, moneyness, strike_price, expiration_date, sort_by } = texts;
  const type = lowerAscii(option_type!);
  const isBelow = (type === 'call') === (lowerAscii(moneyness!) === 'in_the_money');
  const list = data.optionContracts
    .filter(
      ([row]) =>
        `${row.parent_asset_schema}:${row.country_iso_code}:${row.underlying_name}`.toUpperCase() ===
        nameOf(texts).toUpperCase(),
    )
    .filter(([row]) => row.option_type === type)
    .filter(([row]) => (isBelow ? Number(row.strike_price) < price : Number(row.strike_price) > price))
    .filter(([row]) => strike_price === undefined || Number(row.strike_price) === Number(strike_price))
    .filter(([row]) => expiration_date === undefined || row.expiration_date === dayOf(expiration_date))
    .map(([row, instant]) => ({
      fields: { ...row, expiration_datetime: instant.replace('Z', '+00:00') },
      place: contractPlace(row, instant, price, sort_by),
    }));
  return arranged(list, false);
}

const optionSearch: Oracle = (texts) => {
  const given = texts.ref_asset_price;
  const hasPrice = given !== undefined || priced.has(nameOf(texts).toUpperCase());
  return {
    faults: [
      ...unknownFaults(nameOf(texts), 'country_symbol'),
      ...unless(hasPrice, 'no_data ref_asset_price'),
    ],
    list: optionList(texts, Number(given ?? data.CLOSE)),
  };
};

const optionExpirations: Oracle = (texts) => {
  const coming = data.optionContracts
    .filter(
      ([row, instant]) =>
        `${row.parent_asset_schema}:${row.country_iso_code}:${row.underlying_name}`.toUpperCase() ===
          nameOf(texts).toUpperCase() && !isExpired(instant),
    )
    .map(([row, instant]) => `${row.expiration_date} ${instant}`);
  const list = [...new Set(coming)].map((one) => {
    const [expiration_date, instant] = one.split(' ') as [string, string];
    return {
      fields: { expiration_date, expiration_datetime: instant.replace('Z', '+00:00') },
      place: instant,
    };
  });
  return named(texts, { list: arranged(list, false) });
};

// Holidays (contract 4.5, 8.6).

/** The days of ZZ stocks: of each date the row of the highest priority, where it closes anything. */
function ownDays(symbol: string): data.Row[] {
  const rows = data.holidays.filter((row) => row.symbol === '*' || row.symbol === symbol);
  const best = new Map<unknown, data.Row>();
  for (const row of rows.toSorted((a, b) => Number(a.priority) - Number(b.priority)))
    best.set(row.calendar_date, row);
  return [...best.values()].filter((row) => row.session_template !== 'REGULAR');
}

/** What can be told of the days of any market: their range, their code, their order. */
const checkDays =
  (texts: Texts, code: string | undefined) =>
  ({ groups: [records] }: Good): void => {
    const dates = records!.map((record) => String(record.calendar_date));
    for (const date of dates) assert.ok(isBetween(date, texts), `${date} is out of range`);
    const sorted = [...new Set(dates)].sort();
    assert.deepEqual(dates, isDescending(texts) ? sorted.reverse() : sorted);
    for (const record of records!) if (code !== undefined) assert.equal(record.holiday_code, code);
  };

const holidayList: Oracle = (texts) => {
  const [type, country, symbol] = texts.full_symbol!.toUpperCase().replace(':GB:', ':UK:').split(':') as [
    string,
    string,
    string,
  ];
  const code = texts.holiday_code?.toUpperCase();
  const isOwn = type === 'STOCK' && country === 'ZZ';
  const rows = isOwn ? ownDays(symbol) : [];
  const list = rows
    .filter((row) => code === undefined || row.holiday_code === code)
    .filter((row) => isBetween(String(row.calendar_date), texts))
    .map((fields) => ({ fields, place: String(fields.calendar_date) }));
  return {
    faults: [
      ...(symbol === '*' ? [] : unknownFaults(`${type}:${country}:${symbol}`, 'full_symbol')),
      ...dayRangeFaults(texts),
    ],
    check: checkDays(texts, code),
    // Of other markets the calendar's own tests know the days; where there is none, there are none.
    ...(isOwn || country === 'GLOBAL' ? { list: arranged(list, isDescending(texts)) } : {}),
  };
};

/** A country that ships no codes has those of the data, and no others. */
const codes =
  (rows: readonly data.Row[], code: string, text: string): Oracle =>
  (texts) => ({
    faults: [],
    check({ entries }) {
      const own = countryOf(texts.country_iso_code!) === 'ZZ' ? rows : [];
      for (const row of own)
        assert.ok(
          own.some((other) => other[code] === row[code] && entries[String(row[code])] === other[text]),
          `${row[code]}: ${JSON.stringify(entries)}`,
        );
      if (own.length > 0)
        assert.deepEqual(
          Object.keys(entries).sort(),
          [...new Set(own.map((row) => String(row[code])))].sort(),
        );
    },
  });

const holidayCodes: Oracle = (texts) => {
  const { check, ...rest } = codes(data.holidays, 'holiday_code', 'name')(texts);
  return {
    ...rest,
    check(good) {
      check!(good);
      for (const code of Object.keys(good.entries)) assert.match(code, /^HOLIDAY_/);
    },
  };
};

// Bars (contract 3.11, 9.5): which ones is for tests of their own.

const checkBars =
  (texts: Texts) =>
  ({ groups: [records] }: Good): void => {
    const [type, country, symbol] = nameOf(texts).toUpperCase().split(':');
    const hasLabel = ['true', '1', 'yes'].includes(lowerAscii(texts.session_date ?? 'false'));
    const first = records![0];
    if (first === undefined) return;
    assert.deepEqual([first.asset_schema, first.country_iso_code, first.symbol], [type, country, symbol]);
    const opens = records!.map((record) => String(record.datetime));
    for (const record of records!) assert.equal('session_date' in record, hasLabel);
    const sorted = [...new Set(opens)].sort();
    assert.deepEqual(opens, isDescending(texts) ? sorted.reverse() : sorted);
  };

const historicalBars: Oracle = (texts) => {
  const order = judgeRange(texts.from_date!, texts.to_date!);
  return {
    faults: [...unknownFaults(nameOf(texts), 'country_symbol'), ...unless(order === 'right', ...rangeFaults)],
    mayBeGood: known.has(nameOf(texts).toUpperCase()) && order === 'open',
    check: checkBars(texts),
  };
};

const latestBars: Oracle = (texts) => named(texts, { check: checkBars(texts) });

// The economic calendar (contract 8.7, 8.8, 9.1).

const timeOf = (row: Came): number => Date.parse(String(row.event_timestamp));

function eventsOf({ country_iso_code, event_code, impact, source_id }: Texts): Came[] {
  const weight = lowerAscii(impact ?? 'all');
  return data.events
    .map(([, worked]) => worked)
    .filter((row) => country_iso_code === undefined || row.country_iso_code === countryOf(country_iso_code))
    .filter((row) => event_code === undefined || row.event_code === event_code.toUpperCase())
    .filter((row) => weight === 'all' || row.impact === weight)
    .filter((row) => source_id === undefined || row.source_id === source_id);
}

const byTime = (rows: readonly Came[], descending: boolean): Expected[] =>
  arranged(
    rows.map((fields) => ({ fields, place: String(fields.event_timestamp) })),
    descending,
  );

const economicEvents: Oracle = (texts) => ({
  faults: instantRangeFaults(texts),
  list: byTime(
    eventsOf(texts).filter((row) => isWithin(timeOf(row), texts)),
    isDescending(texts),
  ),
});

/** Every instant that the fuzzer asks at lies between the events of the past and those to come. */
const hasBeen = (row: Came): boolean => String(row.event_timestamp) < FAR_YEAR;

const economicEvent: Oracle = (texts) => {
  const { source_id } = texts;
  const isNamed = source_id !== undefined;
  const matching = eventsOf(texts);
  // Whether the other filters count beside an identifier is not said.
  const found = isNamed
    ? eventsOf({ source_id })
    : matching.filter((row) => isWithin(timeOf(row), texts) && (texts.to_date !== undefined || hasBeen(row)));
  const isNewest = isDescending(texts, 'desc');
  const list = found.map((fields) => {
    const time = String(fields.event_timestamp);
    const weight = 9 - Number(fields.importance ?? 0);
    return { fields, place: [isNewest ? opposite(time) : time, weight, fields.event_code].join(' ') };
  });
  const range = instantRangeFaults(texts);
  return {
    faults: [...unless(list.length > 0 && matching.length > 0, 'no_data'), ...range],
    mayBeGood: isNamed && list.length > 0 && range.length === 0,
    list: arranged(list, false),
  };
};

const latestEconomicEvents: Oracle = (texts) => {
  const side = lowerAscii(texts.date_type ?? 'all');
  const limit = Number(texts.limit ?? 5);
  const all = eventsOf(texts);
  const past = side === 'upcoming' ? [] : all.filter(hasBeen);
  const coming = side === 'historical' ? [] : all.filter((row) => !hasBeen(row));
  // The past is nearer than what is to come, whenever the fuzzer asks.
  const start = lastOf(past.length, limit);
  const list = byTime([...past, ...coming], isDescending(texts));
  const count = Math.min(limit, list.length);
  return { faults: [], list, start: isDescending(texts) ? list.length - start - count : start };
};

/** By endpoint. */
export const oracles: Readonly<Record<EndpointName, Oracle>> = {
  instrumentReference,
  instrumentSearch,
  corporateActions,
  newsList,
  latestNews,
  optionSearch,
  optionExpirations,
  holidayList,
  holidayCodes,
  historicalBars,
  latestBars,
  economicEvents,
  economicEvent,
  economicEventCodes: codes(data.eventCodes, 'event_code', 'description'),
  latestEconomicEvents,
};

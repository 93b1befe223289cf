// Shapes of requests, each beside a neighbour that does about the same work: a cliff is a shape that takes
// far more processor time. Nothing is cached: each shape has a runner of its own, which is asked for each
// series once.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DAY_MS, dayOf, formatDay, formatInstant, MINUTE_MS } from '../../src/base/instant.ts';
import { calendarOf } from '../../src/market/calendar/calendar.ts';
import { QueryRunner } from '../../src/queries/index.ts';
import type { Answer, QueryRequest } from '../../src/queries/query.ts';
import { readTarget } from '../../src/serve/request.ts';
import { matchRoute, parseRequest, readQuery } from '../../src/serve/route.ts';
import { openStore } from '../../src/store/engines.ts';
import type { Store } from '../../src/store/store.ts';
import { group } from '../group.ts';
import type { Line } from '../line.ts';
import { eventCodes, eventCountries, FIRST_DAY } from '../lists/store.ts';
import { random, SESSION_MINUTES, symbolOf } from '../minutes.ts';
import type { Setting } from '../setting.ts';
import { median, medianRatio } from '../statistics.ts';
import { type FileStore, tell } from '../workshop.ts';
import { files } from './list-imports.ts';

/** Series of each kind: each shape asks for all but the last, which a new runner is asked for first. */
const SERIES = 11;
const FIRST_YEAR = 2020;
const MINUTES_A_YEAR = 98_000;
/** The kinds of series, by the number of their first symbol. */
const firstSymbol = { minutes: 0, early: 20, extended: 40, days: 60 } as const;
const EXTENDED_SESSIONS = 60;
const DAYS = 2_500;
const FIRST_DAYS = '2012-0{digit}-03';
const LIST_ROWS = 30_000;
/** Years of minutes, as a share of those that bars are derived from elsewhere. */
const YEARS_SHARE = 0.15;
/** A moment that most of the data are older than. */
const PAST_MOMENT = '2022-06-01T20:00:00Z';
/** No shape may cost more than so many times its neighbour. */
const CLIFF = 10;

/** A shape: the name of its neighbour, and its address, in which `{…}` are filled in for each asking. */
type Shape = { readonly name: string; readonly neighbour: string | null; readonly address: string };

const shapes: Shape[] = [];

function shape(name: string, neighbour: string | null, address: string): string {
  shapes.push({ name, neighbour, address });
  return name;
}

/** Shapes of one neighbour, by their names behind its own. */
function besides(neighbour: string, address: string, others: Readonly<Record<string, string>>): void {
  for (const [name, more] of Object.entries(others))
    shape(`${neighbour}, ${name}`, neighbour, `${address}&${more}`);
}

/** Shapes of which each is the neighbour of the next. */
function chain(name: string, neighbour: string | null, addresses: Readonly<Record<string, string>>): string {
  let last = neighbour;
  for (const [own, address] of Object.entries(addresses)) last = shape(`${name}, ${own}`, last, address);
  return last!;
}

const limited = (address: string, ...limits: readonly number[]): Record<string, string> =>
  Object.fromEntries(limits.map((limit) => [`limit ${limit}`, `${address}&limit=${limit}`]));

const bars = (kind: string, interval: string, from = '{from}', to = '2040-01-01'): string =>
  `stock/bars/US:{${kind}}/${interval}/from/${from}/to/${to}?`;
const pastTimes = { 'as of a moment': 'as_of={moment}', 'of an earlier version': 'data_version={version}' };
const order = { descending: 'sort=desc', ...pastTimes };
const kinds = { 'extended hours': 'is_eth=true', 'adjusted for all': 'adjust=all', ...order };
const forms = {
  csv: 'format=csv',
  'two columns': 'columns=datetime,close',
  seconds: 'timestamps=unix',
  'of a time zone': 'tz=Asia/Tokyo',
  'session dates': 'session_date=true',
  'adjusted for splits': 'adjust=split',
  'adjusted as of a day': 'adjust=all&adjust_as_of=2021-01-05',
};

let firstOf: string | null = null;
for (const interval of ['1M', '5M', '60M', 'DAY', 'WEEK', 'MON']) {
  const [name, address] = [`${interval} from minutes`, bars('minutes', interval)];
  chain(name, firstOf, limited(address, 1, 10, 100, 1000));
  firstOf = `${name}, limit 1`;
  for (const limit of [1, 1000])
    besides(`${name}, limit ${limit}`, `${address}&limit=${limit}`, interval === '1M' ? kinds : order);
  const newest = `stock/bars/US:{minutes}/${interval}/latest?`;
  chain(`newest ${name}`, `${firstOf}, descending`, limited(newest, 1, 10, 100, 1000));
}
for (const interval of ['DAY', 'WEEK', 'MON'])
  chain(
    `${interval} from days`,
    '1M from minutes, limit 1',
    limited(bars('days', interval, FIRST_DAYS), 1, 10, 100, 1000),
  );
const days = `${bars('days', 'DAY', FIRST_DAYS)}&limit=1000`;
besides('DAY from days, limit 1000', days, { ...kinds, ...forms });
const again = 'DAY from days, limit 1000, adjusted for all, of one stock again';
shape(again, 'DAY from days, limit 1000', `${days.replace('{days}', '{again}')}&adjust=all`);

besides('1M from minutes, limit 1000', `${bars('minutes', '1M')}&limit=1000`, forms);

const oneMinute = '1M from minutes, limit 1';
shape('1M, a range of a minute', oneMinute, bars('minutes', '1M', '{minute}', '{minute}'));
shape('1M, a closed day', oneMinute, bars('minutes', '1M', '2020-12-25', '2020-12-25'));
shape('1M, before the first bar', oneMinute, bars('minutes', '1M', '2001-01-01', '2010-01-01'));
shape('1M, behind the last bar', oneMinute, bars('minutes', '1M', '2035-01-01', '2036-01-01'));
shape('1M, a second page', '1M from minutes, limit 100', `${bars('minutes', '1M')}&limit=100 page 2`);
shape('1M, a late page', '1M, a second page', `${bars('minutes', '1M')}&limit=100 page 20`);
chain('1M of pre-market bars alone', oneMinute, limited(bars('early', '1M', '2023-01-01'), 1, 1000));
chain(
  '60M of pre-market bars alone',
  '60M from minutes, limit 1',
  limited(bars('early', '60M', '2023-01-01'), 1),
);
chain('newest 1M of pre-market bars alone', '1M of pre-market bars alone, limit 1', {
  'limit 1': 'stock/bars/US:{early}/1M/latest?limit=1',
});
chain('1M of extended hours', '1M from minutes, limit 1, extended hours', {
  ...limited(`${bars('extended', '1M', '2023-02-01')}&is_eth=true`, 1, 1000),
});
const ofMany = (count: number, rest: string): string =>
  `stock/bars/latest?symbols={${count} symbols}&${rest}`;
const newestOfMany = chain('newest of several', 'newest 1M from minutes, limit 1', {
  '1 symbol': ofMany(1, 'interval=1M'),
  '3 symbols': ofMany(3, 'interval=1M'),
  '10 symbols': ofMany(10, 'interval=1M'),
});
chain('newest of several, 10 symbols', newestOfMany, {
  '10 bars': ofMany(10, 'interval=1M&limit=10'),
  DAY: ofMany(10, 'interval=DAY'),
  'as of a moment': ofMany(10, 'interval=1M&as_of={moment}'),
});

const bulk = (interval: string, from: string, to: string): string =>
  `stock/bulk/bars/US/${interval}/from/${from}/to/${to}?`;
const year = 'symbols={minutes}&format';
chain('bulk', '1M from minutes, limit 1000', {
  'a month of minutes': `${bulk('1M', '2020-02-03', '2020-03-03')}${year}=csv`,
  'a month of minutes as Arrow': `${bulk('1M', '2020-02-03', '2020-03-03')}${year}=arrow`,
  'four months of 60M': `${bulk('60M', '2020-02-03', '2020-06-03')}${year}=arrow`,
  'four months of DAY': `${bulk('DAY', '2020-02-03', '2020-06-03')}${year}=arrow`,
  'four months of DAY, adjusted': `${bulk('DAY', '2020-02-03', '2020-06-03')}${year}=arrow&adjust=all`,
});
chain('bulk of the market', null, {
  'a closed day': `${bulk('1M', '2020-12-25', '2020-12-25')}format=csv`,
  'a minute': `${bulk('1M', '{minute}', '{minute}')}format=csv`,
  'a day': `${bulk('1M', '2020-02-03', '2020-02-03')}format=csv`,
  'a day of DAY': `${bulk('DAY', '2020-02-03', '2020-02-03')}format=csv`,
});

const record = shape('reference record', null, 'stock/reference/US:{minutes}?');
shape(
  'reference record, as of a moment',
  '1M from minutes, limit 1, as of a moment',
  `stock/reference/US:{minutes}?as_of={moment}`,
);
besides(record, 'stock/reference/US:{minutes}?', {
  'of an earlier version': pastTimes['of an earlier version'],
});
shape('reference record, not known', record, 'stock/reference/US:NOT{number}?');
const search = (words: string, limit: number): string =>
  `stock/reference/search?query=${words}&limit=${limit}`;
chain('search', record, {
  'no match': search('NOT{number}', 1),
  'a symbol': search('{stock}', 1),
  'beginnings, limit 10': search('B0{digit}', 10),
  'beginnings, limit 100': search('B0{digit}', 100),
});
besides('search, beginnings, limit 100', search('B0{digit}', 100), pastTimes);

const actions = 'stock/stock_corporate_action/list/US:{stock}?from_date=2016-0{digit}-01';
chain('actions', record, limited(actions, 1, 10, 100));
besides('actions, limit 100', `${actions}&limit=100`, {
  csv: 'format=csv',
  'no match': 'action_type=split',
  descending: 'sort=desc',
  ...pastTimes,
});

const news = 'news/list?from_date={day}&to_date=2030-01-01';
chain('news', record, limited(news, 1, 10, 100, 500, 1000));
besides('news, limit 10', `${news}&limit=10`, {
  descending: 'sort=desc',
  csv: 'format=csv',
  'of a stock': 'full_symbol=stock:US:{stock}',
  'of a market': 'full_symbol=stock:US:*',
  'of a market without news': 'full_symbol=stock:CN:*',
  ...pastTimes,
});
shape('news, a late page', 'news, limit 100', `${news}&limit=100 page 30`);
shape('news, none in the range', 'news, limit 1', 'news/list?from_date=2001-01-01&to_date=2001-{month}-02');
chain('newest news', 'news, limit 1', limited('news/latest?', 1, 10, 100));

const options = 'option/search/stock/US:{underlying}/any/moneyness';
chain('options', null, limited(`${options}/any?`, 1, 10, 100, 1000));
besides('options, limit 10', `${options}/any?limit=10`, {
  'by two fields': 'sort_by=strike_price%20desc,expiration_date',
  descending: 'sort=desc',
  csv: 'format=csv',
  'a strike': 'strike_price=1{digit}7',
  'a strike that none has': 'strike_price=1{digit}7.5',
  'an expiration that none has': 'expiration_date=2029-0{digit}-12',
  'with quotes': 'quotes=true',
  ...pastTimes,
});
chain(
  'options in the money',
  'options, limit 10',
  limited(`${options}/in_the_money?ref_asset_price=1{digit}7.3`, 10, 100),
);
chain(
  'options out of the money',
  'options, limit 10',
  limited(`${options}/out_of_the_money?ref_asset_price=1{digit}7.3`, 10, 100),
);
shape('options, a late page', 'options, limit 100', `${options}/any?&limit=100 page 10`);
shape('expirations', 'options, limit 1', 'option/expiration_date_list/stock/US:{underlying}?');
besides('expirations', 'option/expiration_date_list/stock/US:{underlying}?', pastTimes);

const holidays = 'holiday/list?full_symbol=stock:US:*&from_date=20{month}-01-01';
chain('holidays', record, limited(holidays, 1, 10, 100));
besides('holidays, limit 10', `${holidays}&limit=10`, {
  'of a code': 'holiday_code=HOLIDAY_CHRISTMAS',
  'of a code that no day has': 'holiday_code=HOLIDAY_NO_DAY',
  ...pastTimes,
});
shape('codes of holidays', record, 'holiday/holiday_codes/US?');

const events = 'economic_calendar/event_list?from_date={day}';
chain('events', record, limited(events, 1, 10, 100, 500, 1000));
besides('events, limit 10', `${events}&limit=10`, {
  json: 'format=json',
  descending: 'sort=desc',
  'of a country': 'country_iso_code=JP',
  'of a code': 'event_code=EMPLOYMENT_SERIES_{digit}',
  'of a code that none has': 'event_code=NO_SERIES_{digit}',
  'of an impact': 'impact=high',
  'of all three': 'country_iso_code=JP&event_code=EMPLOYMENT_SERIES_{digit}&impact=high',
  ...pastTimes,
});
shape('events, a late page', 'events, limit 100', `${events}&limit=100 page 30`);
shape('one event', 'events, limit 1', 'economic_calendar/event?from_date={day}');
shape(
  'one event of a code that none has',
  'one event',
  'economic_calendar/event?event_code=NO_SERIES_{digit}',
);
shape('one event by its id, none', 'one event', `economic_calendar/event?source_id=${'0'.repeat(63)}{digit}`);
shape('codes of events', 'events, limit 100', 'economic_calendar/event_codes/US?');
chain('newest events', 'events, limit 1', limited('economic_calendar/latest_event_list?', 1, 10, 100));
shape(
  'upcoming events',
  'newest events, limit 1',
  'economic_calendar/latest_event_list?date_type=upcoming&limit=1',
);

chain('runs', record, limited('server/runs?', 1, 10));
shape('address', record, 'server/address_info?');
chain('coverage', null, limited('stock/coverage?', 1, 10, 100));
shape('coverage, no match', 'coverage, limit 1', 'stock/coverage?query=NOT{number}');
chain('coverage of sessions', null, {
  'a day': 'stock/coverage/US:{minutes}?interval=1M&from_date=2020-02-03&to_date=2020-02-03',
  'a month': 'stock/coverage/US:{minutes}?interval=1M&from_date=2020-02-03&to_date=2020-03-03',
  'four months': 'stock/coverage/US:{minutes}?interval=1M&from_date=2020-02-03&to_date=2020-06-03',
});
const finding = 'stock/findings/US:{minutes}?from_date=2020-02-03';
chain('findings', 'coverage of sessions, a day', {
  'a day': `${finding}&to_date=2020-02-03`,
  'a month': `${finding}&to_date=2020-03-03`,
  'four months': `${finding}&to_date=2020-06-03`,
  'of one kind': `${finding}&to_date=2020-06-03&kind=off_grid`,
});

/** Processor time of a request in microseconds, in each round, by the name of its shape. */
type Measured = ReadonlyMap<string, readonly number[]>;

const lines = shapes.map(({ name, neighbour }): Line<Measured> => {
  const costs = (measured: Measured, of = name): readonly number[] => measured.get(of)!;
  const unit = 'us/request';
  if (neighbour === null)
    return { name, unit, target: null, measure: (measured) => ({ measured: median(costs(measured)) }) };
  return {
    name,
    unit,
    comparedWith: neighbour,
    target: { atMost: CLIFF },
    measure: (measured) => ({
      measured: median(costs(measured)),
      ratio: medianRatio(costs(measured), costs(measured, neighbour)),
    }),
  };
});

/** The rows of bars of a series, each at an instant. */
function* barRows(symbol: string, instants: Iterable<string>): Generator<string> {
  const next = random(symbol.charCodeAt(4));
  let close = 4_000;
  for (const instant of instants) {
    const open = close;
    close = Math.max(100, open + Math.round((next() - 0.5) * 12));
    const [high, low] = [Math.max(open, close) + 2, Math.min(open, close) - 2];
    yield [
      symbol,
      instant,
      open / 100,
      high / 100,
      low / 100,
      close / 100,
      Math.floor(next() * 9_000),
    ].join();
  }
}

/** The minutes of the segments of some sessions; of the pre-market alone where that is asked for. */
function* segmentMinutes(isEarly: boolean): Generator<string> {
  const sessions = calendarOf('stock', 'US').sessions(dayOf(2023, 2, 1), dayOf(2024, 1, 1));
  for (const { segments } of sessions.slice(0, EXTENDED_SESSIONS))
    for (const { kind, openMs, closeMs } of segments)
      if (!isEarly || kind === 'pre')
        for (let ms = openMs; ms < closeMs; ms += MINUTE_MS) yield formatInstant(ms).replace('+00:00', 'Z');
}

function* sessionDays(): Generator<string> {
  for (const { day } of calendarOf('stock', 'US')
    .sessions(dayOf(2012, 1, 1), dayOf(2025, 1, 1))
    .slice(0, DAYS))
    yield formatDay(day);
}

const symbolsFrom = (first: number): string[] =>
  Array.from({ length: SERIES + 1 }, (_, index) => symbolOf(first + index));

const eventFile = {
  header: 'country_iso_code,event_code,event_name,event_timestamp,event_driven_type,impact,actual_value',
  rowOf: (at: number) => {
    const [code, impact] = [eventCodes[at % 97]!, ['low', 'medium', 'high'][at % 3]!];
    const instant = formatInstant((FIRST_DAY + at / 8) * DAY_MS).replace('+00:00', 'Z');
    return `${eventCountries[at % 10]!},${code},Series,${instant},time_driven,${impact},${at % 50}`;
  },
};

/** Fills a store with series of every kind and lists; its newest version corrects the first day. */
async function fill({ workshop, scale }: Setting, store: FileStore): Promise<void> {
  const write = (name: string, header: string, rows: Iterable<string>): string => {
    const path = join(workshop.folder, `${name}.csv`);
    writeFileSync(path, [header, ...rows, ''].join('\n'));
    return path;
  };
  const minutes = { order: 'symbol', symbols: SERIES + 1 } as const;
  const each = Math.floor(scale.years * YEARS_SHARE * MINUTES_A_YEAR);
  const importBars = async (
    kind: 'early' | 'extended' | 'days',
    interval: string,
    instants: () => Iterable<string>,
  ) => {
    const rows = symbolsFrom(firstSymbol[kind]).flatMap((symbol) => [...barRows(symbol, instants())]);
    const path = write(kind, 'symbol,datetime,open,high,low,close,volume', rows);
    await store.bourse(
      'import',
      'bars',
      path,
      '--schema',
      'stock',
      '--country',
      'US',
      '--interval',
      interval,
    );
  };
  await store.importMinutes(
    workshop.minutes({ ...minutes, rows: each * minutes.symbols, firstYear: FIRST_YEAR }),
  );
  await importBars('early', '1M', () => segmentMinutes(true));
  await importBars('extended', '1M', () => segmentMinutes(false));
  await importBars('days', 'DAY', sessionDays);
  for (const [name, { header, rowOf }] of Object.entries({ ...files, 'economic-events': eventFile }))
    await store.bourse(
      'import',
      name,
      write(
        name,
        header,
        Array.from({ length: LIST_ROWS }, (_, at) => rowOf(at)),
      ),
    );
  await store.importMinutes(
    workshop.minutes({
      ...minutes,
      rows: SESSION_MINUTES * minutes.symbols,
      firstYear: FIRST_YEAR,
      firstMinute: 50,
    }),
  );
}

/** Values in the addresses: a version that is not the newest, and a moment before the newest data. */
type Past = { readonly version: number; readonly moment: string };

/** An address with what stands in it for the asking of a number. */
function filled(address: string, at: number, { version, moment }: Past): string {
  const minute = `2020-02-03T15:${10 + at}:00Z`;
  const facts: Readonly<Record<string, string>> = {
    ...{ number: `${at}`, digit: `${1 + (at % 9)}`, month: String(1 + at).padStart(2, '0'), moment, minute },
    ...{
      version: `${version}`,
      again: symbolOf(firstSymbol.days),
      from: formatDay(dayOf(FIRST_YEAR, 1, 6) + 9 * at),
    },
    ...{ stock: symbolOf(20 * at), underlying: symbolOf(at), day: formatDay(FIRST_DAY + 100 * at) },
  };
  return address.replaceAll(/\{([^}]+)\}/g, (_, name: string) => {
    if (name in facts) return encodeURIComponent(facts[name]!);
    const count = /^(\d+) symbols$/.exec(name)?.[1];
    if (count === undefined) return symbolOf(firstSymbol[name as keyof typeof firstSymbol] + at);
    return symbolsFrom(at)
      .slice(0, Number(count))
      .map((symbol) => `US%3A${symbol}`)
      .join('%2C');
  });
}

/** A request as it is written in a URL. */
function requestOf(address: string): QueryRequest {
  const { path, query } = readTarget({ target: `/api/v2/${address}`, headers: {} });
  const match = matchRoute(path);
  assert.ok(match !== null, path);
  const { name: endpoint, known } = match.route;
  const parameters = parseRequest(match, readQuery(query, (name) => known.includes(name)).query);
  const service = { baseAddress: 'http://127.0.0.1', version: '0' };
  return { endpoint, parameters, nowMs: Date.now(), wrapCsv: false, service };
}

/** Asks for an answer, all of its steps; its last. */
async function ask(runner: QueryRunner, request: QueryRequest): Promise<Answer> {
  const answer = await runner.run(request);
  if (answer.kind === 'refusal')
    assert.match(answer.word, /^(unknown_instrument|no_data)$/, JSON.stringify(answer));
  else if (answer.rest !== undefined) return ask(runner, { ...request, from: answer.rest });
  return answer;
}

/** The request for the page of a number, of which an address may end with ` page N`. */
async function pageOf(runner: QueryRunner, address: string): Promise<QueryRequest> {
  const [first, page = '1'] = address.split(' page ') as [string, string?];
  let at = first;
  for (let passed = 1; passed < Number(page); passed++) {
    const answer = await ask(runner, requestOf(at));
    assert.ok(answer.kind === 'answer' && answer.next !== null, `${at} is the last page`);
    at = `${first}&next_page_key=${answer.next.key}`;
  }
  return requestOf(at);
}

/** The median of the processor time of a shape, in microseconds. */
async function costOf(store: Store, { address }: Shape, past: Past): Promise<number> {
  const runner = new QueryRunner(store, new Uint8Array(32));
  const costs: number[] = [];
  for (const at of [SERIES, ...Array(SERIES).keys()]) {
    const request = await pageOf(runner, filled(address, at, past));
    const before = process.cpuUsage();
    await ask(runner, request);
    const { user, system } = process.cpuUsage(before);
    if (at < SERIES) costs.push(user + system);
  }
  return median(costs);
}

async function measure(setting: Setting): Promise<Measured> {
  const { workshop, scale } = setting;
  const file = workshop.freshStore('cliffs');
  await fill(setting, file);
  const store = await openStore(file.url, 'read');
  const version = (await store.snapshot((reader) => reader.version()))!;
  const past = { version: version - 1, moment: PAST_MOMENT };
  const measured = new Map<string, number[]>(shapes.map(({ name }) => [name, []]));
  // The first round compiles the code.
  for (let round = 0; round <= scale.rounds; round++) {
    for (const one of shapes) {
      const us = await costOf(store, one, past);
      if (round > 0) measured.get(one.name)!.push(us);
    }
    tell(`cliffs ${round}/${scale.rounds}`);
  }
  await store.close();
  file.remove();
  return measured;
}

/** The lines of `cliffs`. */
export const cliffs = group('cliffs', 'each shape in a round', lines, measure);

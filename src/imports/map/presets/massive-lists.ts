// Lists of Massive (formerly Polygon.io), answers of its API: dividends, splits, tickers and their changes,
// holidays, and option contracts with or without their quotes. Sources: massive.com/docs/rest, and the
// answers in github.com/massive-com/client-python, test_rest/mocks.
import { type Cell, inputsOf } from '../cell.ts';
import { firstCells, fitsAnswer, fitsList, isMended, type Preset } from './preset.ts';

const LIST = 'results[]';

type Columns = Readonly<Record<string, Cell>>;

/**
 * Makes the preset of answers whose `results` are a list of objects with some keys, and without the key
 * `lacks`.
 */
const answers = (
  preset: Pick<Preset, 'name' | 'says' | 'dataset' | 'example'>,
  keys: readonly string[],
  columnsOf: Columns | ((has: (path: string) => boolean) => Columns),
  values: Readonly<Record<string, string>>,
  lacks?: string,
): Preset => ({
  ...preset,
  fits: (sample) =>
    lacks !== undefined && sample.text.includes(`"${lacks}"`)
      ? 'no'
      : fitsAnswer(
          'results',
          keys.flatMap((key) => key.split('.')),
          keys.map((key) => `${LIST}.${key}`),
        )(sample),
  mappingOf(sample) {
    const header = new Set(firstCells(sample));
    const has = (path: string): boolean =>
      header.has(path) || sample.text.includes(`"${path.split('.').at(-1)!}"`);
    const columns = typeof columnsOf === 'function' ? columnsOf(has) : columnsOf;
    return {
      // A key that no object of an answer has gives no column.
      columns: Object.fromEntries(Object.entries(columns).filter(([, cell]) => inputsOf(cell).every(has))),
      values,
      notation: 'cqs',
    };
  },
});

/** Both forms of dividends say whether one is special: `dividend_type` SC, or `distribution_type` special. */
const kindOf = (has: (path: string) => boolean): Cell => {
  const path = ['dividend_type', 'distribution_type'].map((key) => `${LIST}.${key}`).find(has);
  return path === undefined
    ? { column: `${LIST}.cash_amount`, value: 'dividend' }
    : { sql: `case when {${path}} in ('SC', 'special') then 'special_dividend' else 'dividend' end` };
};

/**
 * Source: docs, corporate-actions/dividends; mocks/v3/reference/dividends.json. Amounts are as they were
 * paid.
 */
export const massiveDividends = answers(
  {
    name: 'massive-dividends',
    says: 'Massive (Polygon.io) dividends, answers of /v3/reference/dividends and /stocks/v1/dividends',
    dataset: 'corporate-actions',
    example: [
      '{"results":[{"cash_amount":0.25,"currency":"USD","declaration_date":"2024-10-31","dividend_type":"CD","ex_dividend_date":"2024-11-08","frequency":4,"id":"E416","pay_date":"2024-11-14","record_date":"2024-11-11","ticker":"AAPL"}],"status":"OK"}',
    ],
  },
  ['cash_amount', 'ex_dividend_date', 'ticker'],
  (has) => ({
    symbol: `${LIST}.ticker`,
    action_type: kindOf(has),
    ex_date: `${LIST}.ex_dividend_date`,
    cash_amount: `${LIST}.cash_amount`,
    currency: `${LIST}.currency`,
    declaration_date: `${LIST}.declaration_date`,
    record_date: `${LIST}.record_date`,
    pay_date: `${LIST}.pay_date`,
  }),
  { country_iso_code: 'US' },
);

/**
 * Source: docs, corporate-actions/splits; mocks/v3/reference/splits.json: `split_to` new shares for
 * `split_from`.
 */
export const massiveSplits = answers(
  {
    name: 'massive-splits',
    says: 'Massive (Polygon.io) splits, answers of /v3/reference/splits and /stocks/v1/splits',
    dataset: 'corporate-actions',
    example: [
      '{"results":[{"execution_date":"2020-08-31","id":"E36","split_from":1,"split_to":4,"ticker":"AAPL"}],"status":"OK"}',
    ],
  },
  ['execution_date', 'split_from', 'split_to', 'ticker'],
  {
    symbol: `${LIST}.ticker`,
    ex_date: `${LIST}.execution_date`,
    split_from: `${LIST}.split_from`,
    split_to: `${LIST}.split_to`,
  },
  { country_iso_code: 'US', action_type: 'split' },
);

/** The columns of a contract in lists of contracts and in chains. */
const contractColumns = (details: string, underlying: string, symbol = `${details}.ticker`): Columns => ({
  symbol,
  underlying_name: { column: underlying, remove: '^I:' },
  expiration_date: `${details}.expiration_date`,
  option_type: `${details}.contract_type`,
  strike_price: `${details}.strike_price`,
  exercise_style: `${details}.exercise_style`,
  contract_value: `${details}.shares_per_contract`,
});

/** Source: mocks/v3/reference/options/contracts.json. */
export const massiveContracts = answers(
  {
    name: 'massive-contracts',
    says: 'Massive (Polygon.io) option contracts, answers of /v3/reference/options/contracts',
    dataset: 'option-contracts',
    example: [
      '{"results":[{"cfi":"OCASPS","contract_type":"call","exercise_style":"american","expiration_date":"2026-01-16","primary_exchange":"BATO","shares_per_contract":100,"strike_price":200,"ticker":"O:AAPL260116C00200000","underlying_ticker":"AAPL"}],"status":"OK"}',
    ],
  },
  ['contract_type', 'expiration_date', 'shares_per_contract', 'underlying_ticker'],
  contractColumns(LIST, `${LIST}.underlying_ticker`),
  { country_iso_code: 'US', parent_asset_schema: 'stock' },
  'details',
);

/** The quote of a chain, at the moment of its bid and ask. */
const chainQuotes: Columns = {
  ...{ bid: `${LIST}.last_quote.bid`, ask: `${LIST}.last_quote.ask`, last: `${LIST}.last_trade.price` },
  ...{ volume: `${LIST}.day.volume`, open_interest: `${LIST}.open_interest` },
  implied_volatility: `${LIST}.implied_volatility`,
  ...{ delta: `${LIST}.greeks.delta`, gamma: `${LIST}.greeks.gamma` },
  ...{ theta: `${LIST}.greeks.theta`, vega: `${LIST}.greeks.vega` },
  quote_datetime: { column: `${LIST}.last_quote.last_updated`, epoch: 'ns' },
};

/**
 * Source: mocks/v3/snapshot/options/AAPL.json; mocks/v3/snapshot.json, which has a contract's ticker beside
 * its details.
 */
export const massiveChain = answers(
  {
    name: 'massive-chain',
    says: 'Massive (Polygon.io) option chains and snapshots, answers of /v3/snapshot/options/… and /v3/snapshot',
    dataset: 'option-contracts',
    example: [
      '{"results":[{"details":{"contract_type":"call","exercise_style":"american","expiration_date":"2026-01-16","shares_per_contract":100,"strike_price":200,"ticker":"O:AAPL260116C00200000"},"open_interest":8133,"underlying_asset":{"ticker":"AAPL"}}],"status":"OK"}',
    ],
  },
  ['details.contract_type', 'details.strike_price', 'underlying_asset.ticker'],
  (has) => {
    const [details, inside] = [`${LIST}.details`, `${LIST}.details.underlying_ticker`];
    if (!has(inside))
      return { ...contractColumns(details, `${LIST}.underlying_asset.ticker`), ...chainQuotes };
    const contract = contractColumns(details, inside, `${LIST}.ticker`);
    return { ...contract, ...chainQuotes, volume: `${LIST}.session.volume` };
  },
  { country_iso_code: 'US', parent_asset_schema: 'stock' },
);

/** Markets of tickers; those of indices are stored as stocks. */
const markets = { stocks: 'stock', otc: 'stock', indices: 'stock', crypto: 'crypto', fx: 'forex' };

/** Source: mocks/v3/reference/tickers.json. */
export const massiveTickers = answers(
  {
    name: 'massive-tickers',
    says: 'Massive (Polygon.io) tickers, answers of /v3/reference/tickers',
    dataset: 'instruments',
    example: [
      '{"results":[{"ticker":"A","name":"Agilent Technologies Inc.","market":"stocks","locale":"us","primary_exchange":"XNYS","type":"CS","active":true,"currency_name":"usd"}],"status":"OK","count":1}',
    ],
  },
  ['ticker', 'name', 'market', 'locale', 'active'],
  {
    asset_schema: { column: `${LIST}.market`, lookup: markets },
    country_iso_code: { column: `${LIST}.locale`, lookup: { us: 'US', global: 'GLOBAL' } },
    symbol: { column: `${LIST}.ticker`, remove: '^[XCI]:' },
    name: `${LIST}.name`,
    exchange: `${LIST}.primary_exchange`,
    status: { column: `${LIST}.active`, lookup: { true: 'active', false: 'inactive' } },
  },
  {},
);

const eventColumns = ['symbol', 'name', 'former_symbols'];

/**
 * The changes of one instrument, an answer each: the newest ticker, and each one before it until the day of
 * its end.
 */
const eventQuery = `select max_by(ticker, since) as symbol, any_value(name) as name,
    nullif(string_agg(case when until is not null then ticker || ':' || since || '..' || (until - 1) end, ' ' order by since), '') as former_symbols
  from (select *, lead(since) over (partition by answer order by since) as until
    from (select answer, name, event->'$.ticker_change'->>'$.ticker' as ticker, cast(event->>'$.date' as date) as since
      from (select row_number() over () as answer, results->>'$.name' as name,
        unnest(from_json(results->'$.events', '["JSON"]')) as event from {file})
      where event->>'$.type' = 'ticker_change'))
  group by answer`;

/** Source: mocks/vX/reference/tickers/META/events&types=ticker_change.json. */
export const massiveEvents: Preset = {
  name: 'massive-events',
  says: 'Massive (Polygon.io) ticker events of one stock, answers of /vX/reference/tickers/…/events',
  dataset: 'instruments',
  example: [
    '{"results":{"name":"Meta Platforms, Inc.","events":[{"ticker_change":{"ticker":"META"},"type":"ticker_change","date":"2022-06-09"},{"ticker_change":{"ticker":"FB"},"type":"ticker_change","date":"2012-05-18"}]},"status":"OK"}',
  ],
  fits: (sample) =>
    isMended(sample, eventColumns)
      ? 'surely'
      : fitsAnswer('results', ['events', 'ticker_change', 'type', 'date'], [LIST])(sample),
  mappingOf: () => ({
    header: eventColumns,
    records: { keys: ['results'], query: eventQuery },
    columns: Object.fromEntries(eventColumns.map((name) => [name, name])),
    values: { asset_schema: 'stock', country_iso_code: 'US' },
    notation: 'cqs',
  }),
};

const holidayColumns = ['name', 'date', 'status', 'open', 'close'];
const holidayKeys = ['exchange', ...holidayColumns];

/**
 * Source: mocks/v1/marketstatus/upcoming.json: a day is there for each of NYSE and NASDAQ, which have the
 * same; those of another market are not those of US stocks.
 */
export const massiveHolidays: Preset = {
  name: 'massive-holidays',
  says: 'Massive (Polygon.io) market holidays, answers of /v1/marketstatus/upcoming',
  dataset: 'holidays',
  example: [
    '[{"exchange":"NYSE","name":"Thanksgiving","date":"2022-11-25","status":"early-close","open":"2022-11-25T14:30:00.000Z","close":"2022-11-25T18:00:00.000Z"}]',
  ],
  fits: (sample) =>
    isMended(sample, holidayColumns) ? 'surely' : fitsList(...holidayKeys.slice(0, 4))(sample),
  mappingOf: () => ({
    header: holidayColumns,
    records: {
      keys: holidayKeys,
      query: `select distinct ${holidayColumns.map((key) => `"${key}"->>'$' as "${key}"`).join()} from {file}
        where exchange->>'$' in ('NYSE', 'NASDAQ') order by "date"`,
    },
    columns: {
      name: 'name',
      holiday_code: {
        sql: `'HOLIDAY_' || upper(trim(regexp_replace(replace({name}, '''', ''), '[^A-Za-z0-9]+', '_', 'g'), '_'))`,
      },
      calendar_date: 'date',
      session_template: { column: 'status', lookup: { closed: 'CLOSED', 'early-close': 'EARLY_CLOSE' } },
      open_timestamp: 'open',
      close_timestamp: 'close',
    },
    values: { asset_name: 'stock', country_iso_code: 'US', symbol: '*' },
  }),
};

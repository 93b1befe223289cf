// Economic events: FRED's series, and the calendars of their vendors.
import { unfitProblem } from '../../read/file-problem.ts';
import { reasonColumns } from '../../read/inputs.ts';
import { type Sample, stemOf } from '../../read/sample.ts';
import { quoted } from '../../read/scan.ts';
import type { Cell } from '../cell.ts';
import { contains, firstCells, fitsAnswer, fitsList, given, isList, known, type Preset } from './preset.ts';

// FRED (Federal Reserve Bank of St. Louis): one series as economic events, as CSV or as the JSON of its API.

/** The columns of a file, also of one of its refused rows. */
const seriesOf = (sample: Sample): string[] =>
  firstCells(sample).filter((name) => !reasonColumns.includes(name));

/** FRED's former downloads call the column of any series so; the file has the name of the series. */
const ANY_SERIES = 'VALUE';

/** `CPIAUCSL`, and `CPIAUCSL (1)` as browsers name a second download. */
const NAME = /^(?=.*[A-Z])([A-Z0-9_]+)(?: ?\(\d+\))?$/;
/** Names in capitals that name no series. */
const GENERIC = /^(DATA|DATE|DOWNLOAD|EXPORT|FILE|FRED|FREDGRAPH|OBSERVATIONS?|SERIES|TABLE|VALUES?)$/;

/** The identifier of a file's series: of its column, else of its name; null where neither names it. */
function identifierOf(sample: Sample, column: string): string | null {
  if (column !== ANY_SERIES) return column;
  const name = NAME.exec(stemOf(sample))?.[1];
  return name === undefined || GENERIC.test(name) ? null : name;
}

/** The objects of an answer, which are the rows. */
const observation = ['realtime_start', 'realtime_end', 'date', 'value'];
const isAnswer = fitsAnswer('observations', observation, observation);

/** The fields of a day and its value; `.` is a missing one. */
const observed = (date: string, value: string): Record<string, Cell> => ({
  event_timestamp: {
    sql: `strftime(strptime({${date}}, '%Y-%m-%d'), '%Y-%m-%dT00:00:00Z')`,
    isStrict: true,
    reason: 'must be a date YYYY-MM-DD',
  },
  actual_value: { sql: `nullif({${value}}, '.')` },
});

/** Source: fred.stlouisfed.org/docs/api/fred/series_observations.html. */
export const fred: Preset = {
  name: 'fred',
  says: 'FRED, one series as CSV or JSON; its identifier is the code unless --code gives another',
  dataset: 'economic-events',
  example: ['observation_date,CPIAUCSL', '2024-07-01,313.566'],
  fits(sample) {
    if (isAnswer(sample) === 'surely') return 'surely';
    const [date = '', series = '', ...more] = seriesOf(sample);
    if (!/^(observation_date|DATE)$/.test(date) || !/^[A-Z0-9_]+$/.test(series)) return 'no';
    return more.length === 0 ? 'surely' : 'perhaps';
  },
  mappingOf(sample) {
    const isJson = isAnswer(sample) === 'surely';
    const [date = '', series = '', ...more] = isJson ? ['date', ANY_SERIES] : seriesOf(sample);
    if (more.length > 0)
      throw unfitProblem(
        sample.name,
        `has several series, ${[series, ...more].join(', ')}. Download them one by one`,
      );
    const identifier = identifierOf(sample, series);
    return {
      columns: observed(date, isJson ? 'value' : series),
      values: known({ event_code: identifier, event_name: identifier ?? series }),
      hint: 'The file does not name the series: name the file by it, such as CPIAUCSL.csv, or give --code CPIAUCSL.',
    };
  },
};

// Forex Factory's calendar of a week: its JSON, and its CSV.

/** The countries by their currencies. */
const countries = {
  ...{ USD: 'US', EUR: 'EU', GBP: 'UK', JPY: 'JP', AUD: 'AU' },
  ...{ CAD: 'CA', CHF: 'CH', CNY: 'CN', NZD: 'NZ' },
};

/** Bank holidays and the like have no impact. */
const impacts = { High: 'high', Medium: 'medium', Low: 'low', Holiday: '', 'Non-Economic': '' };

/**
 * A number with its unit behind it; thousands, millions and more are multiplied, exactly. Votes (`0-2-7`),
 * bounds (`<0.50%`) and auctions (`4.31|2.6`) are no number: the event is stored without it.
 */
const number = (column: string): Cell => ({
  sql: `cast(regexp_replace({${column}}, '[%KMBT]$', '') as decimal(28, 9))
    * case right({${column}}, 1) when 'K' then 1000 when 'M' then 1000000 when 'B' then 1000000000 when 'T' then 1000000000000 else 1 end`,
  isStrict: true,
  reason: 'is not a number, alone or with %, K, M, B or T',
  odd: 'missing',
});

/** A name in capitals, whose words are joined: the code of an event. */
const codeOf = (text: string): string =>
  `upper(trim(regexp_replace(${text}, '[^A-Za-z0-9]+', '_', 'g'), '_'))`;

const jsonKeys = ['title', 'country', 'date', 'impact', 'forecast', 'previous'];
const isCsvCalendar = contains('Title', 'Country', 'Date', 'Time', 'Impact', 'Forecast', 'Previous');

function columnsOf(sample: Sample): Readonly<Record<string, Cell>> {
  const isCsv = isCsvCalendar(sample) === 'surely';
  const named = (key: string): string => (isCsv ? `${key[0]!.toUpperCase()}${key.slice(1)}` : key);
  const title = named('title');
  return {
    country_iso_code: { column: named('country'), lookup: countries },
    event_code: { sql: codeOf(`{${title}}`), isStrict: true },
    event_name: title,
    event_timestamp: isCsv ? { column: 'Date', join: 'Time', format: '%m-%d-%Y %I:%M%p' } : 'date',
    impact: { column: named('impact'), lookup: impacts, odd: 'missing' },
    forecast_value: number(named('forecast')),
    previous_value: number(named('previous')),
    unit: { sql: `case when ends_with({${named('previous')}}, '%') then '%' end` },
  };
}

export const forexFactory: Preset = {
  name: 'forex-factory',
  says: "Forex Factory's calendar of a week, JSON or CSV",
  dataset: 'economic-events',
  example: [
    '[{"title":"CPI m/m","country":"USD","date":"2025-04-10T08:30:00-04:00","impact":"High","forecast":"0.1%","previous":"0.2%"}]',
  ],
  fits: (sample) => (isCsvCalendar(sample) === 'surely' ? 'surely' : fitsList(...jsonKeys)(sample)),
  mappingOf: (sample) => ({ columns: columnsOf(sample), values: {} }),
};

/**
 * Source: github.com/EodHistoricalData/EODHD-openapi, paths/economic-events.yaml. Its clock is not certain:
 * the vendor's pages say UTC, and their examples have the payrolls of 12:30 at 16:30.
 */
export const eodhdEvents: Preset = {
  name: 'eodhd-events',
  says: 'EODHD economic events, JSON of /api/economic-events (these need --zone)',
  dataset: 'economic-events',
  example: [
    '[{"type":"CPI","comparison":"yoy","period":"May","country":"US","date":"2025-06-12 12:30:00","actual":3.2,"previous":3.4,"estimate":3.3,"change":-0.2,"change_percentage":-5.88}]',
  ],
  fits: fitsList('type', 'comparison', 'period', 'country', 'date', 'actual', 'estimate'),
  mappingOf: () => ({
    columns: {
      country_iso_code: 'country',
      event_code: { sql: codeOf("{type} || coalesce('_' || {comparison}, '')"), isStrict: true },
      event_name: 'type',
      event_timestamp: 'date',
      period: 'period',
      actual_value: 'actual',
      previous_value: 'previous',
      forecast_value: 'estimate',
    },
    values: {},
  }),
};

/**
 * Source: site.financialmodelingprep.com/developer/docs/stable/economics-calendar. It does not say the
 * clock of its times.
 */
export const fmpEvents: Preset = {
  name: 'fmp-events',
  says: 'Financial Modeling Prep economic calendar, JSON (these need --zone)',
  dataset: 'economic-events',
  example: [
    '[{"date":"2024-03-01 03:35:00","country":"JP","event":"3-Month Bill Auction","currency":"JPY","previous":-0.112,"estimate":null,"actual":-0.096,"change":0.016,"impact":"Low","changePercentage":14.286}]',
  ],
  fits: fitsList('date', 'country', 'event', 'currency', 'estimate', 'actual', 'changePercentage'),
  mappingOf: (sample) => ({
    columns: {
      country_iso_code: 'country',
      event_code: { sql: codeOf('{event}'), isStrict: true },
      event_name: 'event',
      event_timestamp: 'date',
      impact: { column: 'impact', lookup: impacts, odd: 'missing' },
      ...{ actual_value: 'actual', previous_value: 'previous', forecast_value: 'estimate' },
      ...given(sample, { unit: 'unit' }),
    },
    values: {},
  }),
};

/** English names of countries by Trading Economics that others write in another way. */
const otherNames = {
  'Euro Area': 'EU',
  'Czech Republic': 'CZ',
  Turkey: 'TR',
  'Hong Kong': 'HK',
  Macau: 'MO',
};

/** The country of an English name. */
function countryOf(column: string): Cell {
  const names = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
  const letters = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ');
  const codes = letters
    .flatMap((first) => letters.map((second) => `${first}${second}`))
    // A country that is no more has the name of the one that came after it.
    .filter((code) => new Intl.Locale(`und-${code}`).region === code && names.of(code) !== undefined);
  const all = [...codes.map((code) => [names.of(code)!, code] as const), ...Object.entries(otherNames)];
  const cases = all.map(([name, code]) => `when ${quoted(name)} then ${quoted(code)}`);
  return {
    sql: `case {${column}} ${cases.join(' ')} end`,
    isStrict: true,
    reason: 'is not the name of a country',
  };
}

/** A number with the sign of a currency, or %, K, M, B or T behind it; another text is left out. */
const valued = (column: string): Cell => ({ column, thousands: ',', scale: 'suffix', odd: 'missing' });

/**
 * Source: docs.tradingeconomics.com/economic_calendar/schema: dates in UTC, importance 1 to 3, values as
 * text with their units.
 */
export const tradingEconomics: Preset = {
  name: 'trading-economics',
  says: 'Trading Economics calendar, JSON or CSV of /calendar',
  dataset: 'economic-events',
  example: [
    '[{"CalendarId":"87220","Date":"2016-12-02T13:30:00","Country":"United States","Category":"Non Farm Payrolls","Event":"Non Farm Payrolls","Reference":"Nov","Actual":"178K","Previous":"142K","Forecast":"175K","Importance":3}]',
  ],
  fits(sample) {
    const keys = ['Date', 'Country', 'Category', 'Event', 'Actual', 'Previous', 'Forecast', 'Importance'];
    return isList(sample) ? fitsList(...keys)(sample) : contains(...keys)(sample);
  },
  mappingOf: (sample) => ({
    columns: {
      country_iso_code: countryOf('Country'),
      event_code: { sql: codeOf('{Event}'), isStrict: true },
      event_name: 'Event',
      event_timestamp: { column: 'Date', offset: 'Z' },
      importance: 'Importance',
      ...given(sample, { period: 'Reference' }),
      ...{
        actual_value: valued('Actual'),
        previous_value: valued('Previous'),
        forecast_value: valued('Forecast'),
      },
      unit: { sql: `case when ends_with({Previous}, '%') then '%' end` },
    },
    values: {},
  }),
};

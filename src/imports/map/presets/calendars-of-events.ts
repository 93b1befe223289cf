// Economic events: FRED's series, and the calendars of their vendors.
import { unfitProblem } from '../../read/file-problem.ts';
import { reasonColumns } from '../../read/inputs.ts';
import { type Sample, stemOf } from '../../read/sample.ts';
import type { Cell } from '../cell.ts';
import { contains, firstCells, hasColumns, known, type Preset } from './preset.ts';

// FRED (Federal Reserve Bank of St. Louis): the CSV of one series as economic events.

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

export const fred: Preset = {
  name: 'fred',
  says: 'FRED, the CSV of one series; its identifier is the code unless --code says another',
  dataset: 'economic-events',
  example: ['observation_date,CPIAUCSL', '2024-07-01,313.566'],
  fits(sample) {
    const [date = '', series = '', ...more] = seriesOf(sample);
    if (!/^(observation_date|DATE)$/.test(date) || !/^[A-Z0-9_]+$/.test(series)) return 'no';
    return more.length === 0 ? 'surely' : 'perhaps';
  },
  mappingOf(sample) {
    const [date = '', series = '', ...more] = seriesOf(sample);
    if (more.length > 0)
      throw unfitProblem(
        sample.name,
        `has several series, ${[series, ...more].join(', ')}. Download them one by one`,
      );
    const identifier = identifierOf(sample, series);
    return {
      columns: {
        event_timestamp: {
          sql: `strftime(strptime({${date}}, '%Y-%m-%d'), '%Y-%m-%dT00:00:00Z')`,
          isStrict: true,
          reason: 'must be a date YYYY-MM-DD',
        },
        actual_value: { sql: `nullif({${series}}, '.')` },
      },
      values: known({ event_code: identifier, event_name: identifier ?? series }),
      hint: 'The header does not name the series: name the file by it, such as CPIAUCSL.csv, or give --code CPIAUCSL.',
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

const isJson = ({ text }: Sample): boolean => /^[\s\ufeff]*\[/.test(text);

const jsonKeys = ['title', 'country', 'date', 'impact', 'forecast', 'previous'];
const csvColumns = ['Title', 'Country', 'Date', 'Time', 'Impact', 'Forecast', 'Previous'];

function columnsOf(sample: Sample): Readonly<Record<string, Cell>> {
  const isCsv = hasColumns(sample, csvColumns);
  const named = (key: string): string => (isCsv ? `${key[0]!.toUpperCase()}${key.slice(1)}` : key);
  const title = named('title');
  return {
    country_iso_code: { column: named('country'), lookup: countries },
    event_code: {
      sql: `upper(trim(regexp_replace({${title}}, '[^A-Za-z0-9]+', '_', 'g'), '_'))`,
      isStrict: true,
    },
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
  fits(sample) {
    if (isJson(sample)) return jsonKeys.every((key) => sample.text.includes(`"${key}":`)) ? 'surely' : 'no';
    const isCsv = hasColumns(sample, csvColumns);
    return isCsv ? 'surely' : contains(...jsonKeys, 'rejected_row')(sample);
  },
  mappingOf: (sample) => ({ columns: columnsOf(sample), values: {} }),
};

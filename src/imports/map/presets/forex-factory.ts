// Forex Factory's calendar of a week: its JSON, and its CSV.
import type { Sample } from '../../read/sample.ts';
import type { Cell } from '../cell.ts';
import { contains, hasColumns, type Preset } from './preset.ts';

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
  oddIsNull: true,
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
    impact: { column: named('impact'), lookup: impacts, oddIsNull: true },
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

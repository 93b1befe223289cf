// Bars in bulk: those of many symbols, or of a whole market, in one answer that is sent as it is read
// (contract 9.11).
import { barChoices, barRecord } from './bars.ts';
import { endpoint } from './endpoint.ts';
import * as kind from './kinds.ts';
import { instrument, optional, path, required } from './parameter.ts';

/** The media types of the formats that are not text. */
export const bulkTypes = {
  arrow: 'application/vnd.apache.arrow.stream',
  parquet: 'application/vnd.apache.parquet',
} as const;

export const bulkBars = endpoint({
  path: '/api/v2/{schema_asset}/bulk/bars/{country_iso_code}/{interval}/from/{from_date}/to/{to_date}',
  tag: 'bars',
  summary: 'OHLC bars of many symbols, or of a whole market, in one answer',
  parameters: {
    schema_asset: instrument.schema_asset,
    country_iso_code: path(kind.country, 'the country'),
    interval: path(kind.interval, 'the interval of the bars'),
    from_date: path(kind.dateTime, 'the first open to return'),
    to_date: path(kind.dateTime, 'the last open to return; a date alone covers that whole day'),
    symbols: optional(
      kind.symbolList,
      'the present symbols of the instruments, separated by commas, or those of the moment `as_of`; without it the whole market',
    ),
    format: required(kind.oneOf(['csv', 'arrow', 'parquet']), 'the format of the response'),
    ...barChoices,
  },
  record: barRecord,
  shape: 'list',
  refusals: ['unknown_instrument', 'range_not_satisfiable'],
  extension: true,
  isStreamed: true,
  binaryTypes: Object.values(bulkTypes),
});

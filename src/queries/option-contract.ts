// An option contract on the wire: its row, completed from the market of its underlying (spec 2.6, contract
// 8.4).
import { formatDay, formatInstant, formatInstantZ } from '../base/instant.ts';
import type { AssetSchema } from '../contract/identifiers.ts';
import { optionContractRecord } from '../contract/options.ts';
import { findMarket } from '../market/calendar/calendar.ts';
import { minutesOf, tradingHours } from '../market/calendar/trading-hours.ts';
import { type Contract, type Expiration, expirationFinder } from './expirations.ts';
import type { Found } from './lookup.ts';
import type { Allocate, Answer, Paging } from './query.ts';
import { renderEnvelope, writePaging } from './render/list.ts';
import { type WireRecord, writeJsonRecords } from './render/records.ts';

/** One contract of a search: its record, and the instant that it is grouped by. */
type GroupedContract = { readonly expiresMs: number; readonly record: WireRecord };

/** Fields of the underlying's market, for rows that lack them. */
function defaultsOf({ instrument, calendar }: Found, nowMs: number): WireRecord {
  const { asset_schema: assetSchema, country_iso_code: country, calendar_key: key } = instrument;
  const market = findMarket(assetSchema as AssetSchema, country, key);
  return {
    exchange: market?.exchange ?? null,
    calendar_key: market?.key ?? null,
    session_template: market?.sessionTemplate ?? null,
    daily_minute_count:
      market === null ? null : minutesOf(tradingHours(market, calendar.zone.dayAt(nowMs)).regular),
    is_indices: false,
  };
}

/** The contracts of an underlying; `expirations` holds those of all rows. */
export function contractRecords(
  rows: readonly Contract[],
  underlying: Found,
  expirations: readonly Expiration[],
  nowMs: number,
): GroupedContract[] {
  const defaults = Object.entries(defaultsOf(underlying, nowMs));
  const expirationOf = expirationFinder(expirations);
  return rows.map((row) => {
    const { expiresMs } = expirationOf(row)!;
    const record: Record<string, unknown> = {
      ...row,
      parent_schema_instrument_id: `${row.parent_asset_schema}_${underlying.instrument.instrument_id}`,
      expiration_date: formatDay(row.expiration_date),
      expiration_datetime: formatInstant(expiresMs),
    };
    for (const [field, value] of defaults) record[field] ??= value;
    return { expiresMs, record };
  });
}

/** Renders one page of contracts. */
export function renderGrouped(
  contracts: readonly GroupedContract[],
  paging: Paging,
  allocate: Allocate,
): Answer {
  const groups = Map.groupBy(contracts, ({ expiresMs }) => formatInstantZ(expiresMs));
  return renderEnvelope(paging, allocate, (to) => {
    to.text(`{"count":${contracts.length},`);
    const at = writePaging(to, paging);
    to.text(`"expiration_datetimes":${JSON.stringify([...groups.keys()])},"data":{`);
    let separator = '';
    for (const [expiration, members] of groups) {
      const records = members.map(({ record }) => record);
      to.text(`${separator}"${expiration}":[`);
      writeJsonRecords(to, optionContractRecord, records);
      to.text(']');
      separator = ',';
    }
    to.text('}}');
    return at;
  });
}

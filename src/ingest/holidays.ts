// Holidays of an operator's own: what a file may say of a day (contract 8.6, 11).
import { formatInstant, MINUTE_MS } from '../base/instant.ts';
import { calendarOf } from '../calendar/calendar.ts';
import { OVERRIDE_PRIORITY, overrideTemplates, withOverrides } from '../calendar/overrides.ts';
import type { Session } from '../calendar/session.ts';
import type { Zone } from '../calendar/zone.ts';
import { type AssetSchema, symbolAllowed } from '../contract/identifiers.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { holidays } from '../datasets/holidays.ts';
import type { Store } from '../store/store.ts';
import { countryRule, dayRule, instantRule, symbolRule, underlyingSchemaRule } from './field-rules.ts';
import type { FieldMap, FieldNames } from './mapping.ts';
import type { InstrumentName } from './new-instrument.ts';
import type { RowProblem } from './problem.ts';
import type { ImportReport } from './report.ts';
import { type FieldRule, importRows, type NamedOnDay, type RowImport, type Values } from './rows.ts';
import { type ImportRequest, withAssetName } from './run.ts';

/** The fields of a holidays file (contract 11). */
export const holidayFields: FieldNames = {
  required: [
    ...['name', 'holiday_code', 'calendar_date', 'asset_name', 'country_iso_code', 'symbol'],
    'session_template',
  ],
  optional: ['priority', 'open_timestamp', 'close_timestamp'],
  flags: { asset_name: '--schema', country_iso_code: '--country', symbol: '--symbol' },
};

const timestampRule = (zone: Zone | null): FieldRule =>
  instantRule(
    zone,
    (ms) => (ms % MINUTE_MS === 0 ? ms : undefined),
    zone === null
      ? 'must be an instant with its offset on a whole minute, such as 2025-07-03T17:00:00Z; for local times give --zone'
      : 'must be an instant, or a local time that the zone has, and once, on a whole minute',
  );

const rules: Readonly<Record<string, FieldRule>> = {
  name: { parse: (text) => text.trim() || undefined, reason: 'is missing' },
  holiday_code: {
    parse: (text) => (/^HOLIDAY_[A-Z0-9_]{1,90}$/i.test(text) ? text.toUpperCase() : undefined),
    reason: 'must begin with HOLIDAY_, such as HOLIDAY_CHRISTMAS',
  },
  calendar_date: dayRule,
  asset_name: underlyingSchemaRule('options keep the days of their underlying'),
  country_iso_code: countryRule,
  symbol: {
    parse: (text) => (text === '*' ? text : symbolRule.parse(text)),
    reason: `must be * for the whole market, or ${symbolAllowed}`,
  },
  session_template: {
    parse: (text) => overrideTemplates.find((template) => template === text.toUpperCase()),
    reason: `must be ${overrideTemplates.join(', ')}`,
  },
  priority: {
    parse: (text) => (/^\d{1,9}$/.test(text) ? Number(text) : undefined),
    reason: 'must be a whole number, such as 10',
  },
};

/** What is wrong with the instants of a day. */
function problemOf(values: Values): RowProblem | null {
  const { session_template: template, open_timestamp: open, close_timestamp: close } = values;
  const isShort = template === 'EARLY_CLOSE' || template === 'LATE_OPEN';
  const needed = template === 'EARLY_CLOSE' ? 'close_timestamp' : 'open_timestamp';
  if (isShort && values[needed] === undefined)
    return { column: needed, reason: `is missing: ${template} needs it` };
  const stray = ['open_timestamp', 'close_timestamp'].find((field) => values[field] !== undefined);
  if (!isShort && stray !== undefined)
    return { column: stray, reason: `must be empty where the day is ${String(template)}` };
  if (open !== undefined && close !== undefined && (open as number) >= (close as number))
    return { column: 'close_timestamp', reason: 'must lie after open_timestamp' };
  return isShort ? hoursProblem(rowOf(values), needed) : null;
}

/** A shortened day must leave something, and not all, of the whole session that its date has without any holiday. */
function hoursProblem(row: HolidayRow, column: string): RowProblem | null {
  const whole = sessionOf({ ...row, session_template: 'REGULAR' });
  if (whole === undefined)
    return {
      column: 'calendar_date',
      reason: 'the market has no session on that weekday: nothing to shorten',
    };
  const session = sessionOf(row);
  if (session !== undefined && session.template !== 'REGULAR') return null;
  const hours = `${formatInstant(whole.openMs)} to ${formatInstant(whole.closeMs)}`;
  return { column, reason: `does not shorten the session of that day, ${hours}` };
}

/** What a day leaves of its market's session. */
function sessionOf(row: HolidayRow): Session | undefined {
  const base = calendarOf(row.asset_name as AssetSchema, row.country_iso_code);
  return withOverrides(base, [row], row.symbol).sessions(row.calendar_date, row.calendar_date + 1)[0];
}

type HolidayRow = RowOf<typeof holidays>;

const rowOf = (values: Values): HolidayRow =>
  ({ priority: OVERRIDE_PRIORITY, open_timestamp: null, close_timestamp: null, ...values }) as HolidayRow;

/** The instrument whose own day it is, null where it is its market's. */
function nameIn(values: Values): InstrumentName | null {
  const { asset_name, country_iso_code, symbol } = rowOf(values);
  return symbol === '*' ? null : { asset_schema: asset_name, country_iso_code, symbol };
}

/** The symbol by which a day names an instrument; null where it is its market's. */
export function symbolOfHoliday(values: Values): NamedOnDay | null {
  const name = nameIn(values);
  return name === null ? null : { field: 'symbol', name, day: values.calendar_date as number };
}

const kindOf = (zone: Zone | null): RowImport<typeof holidays> => ({
  dataset: holidays,
  fields: holidayFields,
  rules: { ...rules, open_timestamp: timestampRule(zone), close_timestamp: timestampRule(zone) },
  keyOf(values) {
    const row = rowOf(values);
    return {
      country_iso_code: row.country_iso_code,
      asset_name: row.asset_name,
      symbol: row.symbol,
      calendar_date: row.calendar_date,
      priority: row.priority,
    };
  },
  repeated: {
    column: 'calendar_date',
    reason: 'the file has this day with this priority already, with other values',
  },
  problemOf,
  instrumentOf(values) {
    const name = nameIn(values);
    return name === null ? null : { ...name, exchange: null };
  },
  symbolOf: symbolOfHoliday,
  rowOf: (values) => rowOf(values),
});

/** Imports one file of holidays; `zone` is that of times without an offset. @throws FileProblem when nothing of it can be imported */
export async function importHolidays(
  store: Store,
  request: ImportRequest & { readonly map: FieldMap; readonly zone: Zone | null },
): Promise<ImportReport> {
  const { newRows: _, ...report } = await importRows(store, withAssetName(request), kindOf(request.zone));
  return report;
}

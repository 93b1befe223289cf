// Calendar overrides: the hours of a shortened day (contract 8.6).
import { formatInstant } from '../../base/instant.ts';
import type { AssetSchema } from '../../contract/identifiers.ts';
import { type Calendar, calendarOf } from '../../market/calendar/calendar.ts';
import { withOverrides } from '../../market/calendar/overrides.ts';
import type { Session } from '../../market/calendar/session.ts';
import { marketOf } from '../../series/calendars.ts';
import { instrumentNamed } from '../../store/instrument-terms.ts';
import type { RowOf, Values } from '../../store/schema/dataset.ts';
import { holidays } from '../../store/schema/holidays.ts';
import type { RowReader } from '../../store/store.ts';
import { type Particulars, rowWithValues } from './particulars.ts';
import type { RowProblem } from './refused-rows.ts';

type HolidayRow = RowOf<typeof holidays>;

function problemOf(values: Values): RowProblem | null {
  const { session_template: template, open_timestamp: open, close_timestamp: close } = values;
  const isShort = template === 'EARLY_CLOSE' || template === 'LATE_OPEN';
  const needed = template === 'EARLY_CLOSE' ? 'close_timestamp' : 'open_timestamp';
  if (isShort && values[needed] === undefined)
    return { column: needed, reason: `is missing: ${template} needs it` };
  const stray = ['open_timestamp', 'close_timestamp'].find((field) => values[field] !== undefined);
  if (!isShort && stray !== undefined)
    return { column: stray, reason: `must be empty if the day is ${String(template)}` };
  if (open !== undefined && close !== undefined && (open as number) >= (close as number))
    return { column: 'close_timestamp', reason: 'must be after open_timestamp' };
  const { announced, calendar_date: date } = values;
  if (announced !== undefined && (announced as number) > (date as number))
    return {
      column: 'announced',
      reason: 'must not be after calendar_date: it is the date from which the day was known',
    };
  return null;
}

/**
 * A shortened day must leave a part of the session that its date has without any holiday, and not all of it.
 */
async function hoursProblem(
  values: Values,
  _known: Values | null,
  reader: RowReader,
): Promise<RowProblem | null> {
  const row = rowWithValues(holidays, complete(values));
  if (row.session_template !== 'EARLY_CLOSE' && row.session_template !== 'LATE_OPEN') return null;
  const base = await calendarBelow(row, reader);
  const whole = sessionOf(base, { ...row, session_template: 'REGULAR' });
  const nothing = 'the market has no session on that weekday: nothing to shorten';
  if (whole === undefined) return { column: 'calendar_date', reason: nothing };
  const session = sessionOf(base, row);
  if (session !== undefined && session.template !== 'REGULAR') return null;
  const hours = `${formatInstant(whole.openMs)} to ${formatInstant(whole.closeMs)}`;
  const column = row.session_template === 'EARLY_CLOSE' ? 'close_timestamp' : 'open_timestamp';
  return { column, reason: `does not shorten the session of that day, ${hours}` };
}

/**
 * The calendar of a row's market without overrides: for a concrete symbol that which its instrument follows
 * (contract 3.7).
 */
async function calendarBelow(row: HolidayRow, reader: RowReader): Promise<Calendar> {
  const { asset_name: asset_schema, country_iso_code, symbol } = row;
  const owner = await instrumentNamed(reader, { asset_schema, country_iso_code, symbol });
  const key = owner === null ? null : ((await marketOf(reader, owner))?.key ?? null);
  return calendarOf(asset_schema as AssetSchema, country_iso_code, owner?.time_zone, key);
}

/** The session of a day with this override alone. */
function sessionOf(base: Calendar, row: HolidayRow): Session | undefined {
  return withOverrides(base, [row], row.symbol).sessions(row.calendar_date, row.calendar_date + 1)[0];
}

/** The priority of an override that names none. */
const OVERRIDE_PRIORITY = 1;

const complete = (values: Values): Values => ({ priority: OVERRIDE_PRIORITY, ...values });

/** The particulars of calendar overrides. */
export const days: Particulars = { problemOf, problemBeside: hoursProblem, complete };

// Calendar overrides: the hours of a shortened day (contract 8.6).
import { formatInstant } from '../base/instant.ts';
import { calendarOf } from '../calendar/calendar.ts';
import { OVERRIDE_PRIORITY, withOverrides } from '../calendar/overrides.ts';
import type { Session } from '../calendar/session.ts';
import type { AssetSchema } from '../contract/identifiers.ts';
import type { RowOf } from '../datasets/dataset.ts';
import type { Values } from '../datasets/field.ts';
import type { holidays } from '../datasets/holidays.ts';
import type { RowProblem } from '../files/file-problem.ts';
import type { Particulars } from './import-rows.ts';

type HolidayRow = RowOf<typeof holidays>;

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
    return { column: 'close_timestamp', reason: 'must be after open_timestamp' };
  return isShort ? hoursProblem(complete(values) as HolidayRow, needed) : null;
}

/** A shortened day must leave a part of the session that its date has without any holiday, and not all of it. */
function hoursProblem(row: HolidayRow, column: string): RowProblem | null {
  const whole = sessionOf({ ...row, session_template: 'REGULAR' });
  const nothing = 'the market has no session on that weekday: nothing to shorten';
  if (whole === undefined) return { column: 'calendar_date', reason: nothing };
  const session = sessionOf(row);
  if (session !== undefined && session.template !== 'REGULAR') return null;
  const hours = `${formatInstant(whole.openMs)} to ${formatInstant(whole.closeMs)}`;
  return { column, reason: `does not shorten the session of that day, ${hours}` };
}

/** The session of a day with this override alone. */
function sessionOf(row: HolidayRow): Session | undefined {
  const base = calendarOf(row.asset_name as AssetSchema, row.country_iso_code);
  return withOverrides(base, [row], row.symbol).sessions(row.calendar_date, row.calendar_date + 1)[0];
}

const complete = (values: Values): Values => ({
  priority: OVERRIDE_PRIORITY,
  open_timestamp: null,
  close_timestamp: null,
  ...values,
});

/** What is special about calendar overrides. */
export const days: Particulars = { problemOf, complete };

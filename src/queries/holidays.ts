// Holidays: the list of a market's days (spec 4.8) and the codes of a country (spec 4.9).
import { END_DAY, FIRST_DAY, formatDay, formatInstant } from '../base/instant.ts';
import { marketSchema } from '../calendar/calendar.ts';
import { type Holiday, holidaysIn } from '../calendar/holiday-list.ts';
import { markets } from '../calendar/markets/index.ts';
import { holding, type OwnDay, shippedPriority } from '../calendar/own-days.ts';
import { type holidayCodes, holidayList } from '../contract/holidays.ts';
import { type AssetSchema, assetSchemas, type FullSymbol } from '../contract/identifiers.ts';
import { findInstrument, unknownInstrument } from './lookup.ts';
import { openWalk } from './page-walk.ts';
import { goodUntil, type Query, type QueryContext } from './query.ts';
import { dayBounds } from './range.ts';
import { renderRecords } from './render/records.ts';
import { renderResult } from './render/result.ts';

const instantOrNull = (ms: number | null): string | null => (ms === null ? null : formatInstant(ms));

/** A day on the wire; `own` is the calendar override that it comes from. */
function recordOf(holiday: Holiday, own: OwnDay | undefined, assetSchema: AssetSchema, country: string) {
  return {
    name: holiday.rule.name,
    holiday_code: holiday.rule.code,
    calendar_date: formatDay(holiday.day),
    asset_name: assetSchema,
    country_iso_code: country,
    symbol: own?.symbol ?? '*',
    priority: own?.priority ?? shippedPriority,
    session_template: holiday.template,
    open_timestamp: instantOrNull(holiday.openMs),
    close_timestamp: instantOrNull(holiday.closeMs),
  };
}

/** The time zone of an instrument; null for that of its market. @throws Refusal where nothing has the symbol */
async function zoneOf(
  context: QueryContext,
  named: FullSymbol,
  days: readonly OwnDay[],
): Promise<string | null> {
  const { assetSchema, symbol } = named;
  if (symbol === '*') return null;
  const instrument = await findInstrument(context.reader, assetSchema, named);
  if (instrument === null && !days.some((day) => day.symbol === symbol))
    throw await unknownInstrument(context.reader, assetSchema, named, 'full_symbol');
  return instrument?.time_zone ?? null;
}

/** `GET …/holiday/list` */
export const answerHolidayList: Query<typeof holidayList> = async (parameters, context) => {
  const { full_symbol: named, holiday_code: code, from_date: from, to_date: to, sort, limit } = parameters;
  const { from: fromDay = FIRST_DAY, to: endDay = END_DAY } = dayBounds(from, to);
  const schema = marketSchema(named.assetSchema);
  const walk = openWalk(context, 'holidayList', parameters, {
    full_symbol: `${schema}|${named.country}|${named.symbol}`,
  });
  const calendars = await context.lookup.calendars(context.reader);
  const days = await calendars.ownDays(context.reader, schema, named.country);
  const zone = await zoneOf(context, named, days);
  const calendar = await calendars.of(context.reader, schema, named.country, named.symbol, zone);
  const own = holding(days, named.symbol);
  const previous = walk.place === null ? null : (walk.place.position[0] as number);
  const first = sort === 'asc' && previous !== null ? previous + 1 : fromDay;
  const last = sort === 'desc' && previous !== null ? previous - 1 : endDay - 1;
  const found = holidaysIn(calendar, first, last, sort)
    .filter(({ rule }) => code === undefined || rule.code === code)
    .take(limit + 1)
    .toArray();
  const page = found.slice(0, limit);
  const rows = page.map((holiday) => recordOf(holiday, own.get(holiday.day), schema, named.country));
  const end = found.length <= limit ? null : { position: [page.at(-1)!.day], pinned: [] };
  return goodUntil(renderRecords(context, holidayList, rows, parameters.format, walk.paging(end)));
};

/** `GET …/holiday/holiday_codes/{country_iso_code}` */
export const answerHolidayCodes: Query<typeof holidayCodes> = async (parameters, context) => {
  const { country_iso_code: country } = parameters;
  const calendars = await context.lookup.calendars(context.reader);
  const codes: Record<string, string> = {};
  for (const market of markets) if (market.country === country) Object.assign(codes, market.codes);
  for (const assetSchema of assetSchemas) {
    for (const day of await calendars.ownDays(context.reader, assetSchema, country))
      codes[day.holiday_code] ??= day.name;
  }
  return goodUntil(renderResult(codes, context.allocate));
};

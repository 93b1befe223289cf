// Holidays: the list of a market's days (spec 4.8) and the codes of a country (spec 4.9).
import { END_DAY, FIRST_DAY, formatDay, formatInstant, parseDay } from '../base/instant.ts';
import type { holidayCodes, holidayList } from '../contract/holidays.ts';
import { type AssetSchema, assetSchemas, type FullSymbol } from '../contract/identifiers.ts';
import { calendarOf, marketSchema } from '../market/calendar/calendar.ts';
import { type Holiday, holidaysIn } from '../market/calendar/holiday-list.ts';
import { markets } from '../market/calendar/markets/index.ts';
import { announcementsOver } from '../market/calendar/overrides.ts';
import type { CalendarOwner, Calendars } from '../series/calendars.ts';
import { isNobodys, rowNamed, unknownSymbol } from './known-instrument.ts';
import { openWalk } from './pages/page-walk.ts';
import { dayBounds, type Query, type QueryContext } from './query.ts';
import { renderResult } from './render/list.ts';
import { renderRecords } from './render/records.ts';

const instantOrNull = (ms: number | null): string | null => (ms === null ? null : formatInstant(ms));

/** The priority of the holidays that ship. */
const SHIPPED_PRIORITY = 0;

/** A day on the wire. */
function recordOf(holiday: Holiday, assetSchema: string, { country, symbol }: FullSymbol) {
  const { name, code, imported } = holiday.rule;
  return {
    name,
    holiday_code: code,
    calendar_date: formatDay(holiday.day),
    asset_name: assetSchema,
    country_iso_code: country,
    symbol: (imported?.symbol ?? '*') === '*' ? '*' : symbol,
    priority: imported?.priority ?? SHIPPED_PRIORITY,
    session_template: holiday.template,
    open_timestamp: instantOrNull(holiday.openMs),
    close_timestamp: instantOrNull(holiday.closeMs),
  };
}

/** Instead of an instrument: a symbol without a row, or `*` for all instruments of a market. */
const ownerNamed = (assetSchema: AssetSchema, country: string, symbol: string): CalendarOwner => ({
  asset_schema: assetSchema,
  country_iso_code: country,
  symbol,
  time_zone: null,
  calendar_key: null,
  parent_schema_instrument_id: null,
});

/**
 * The owner of the requested calendar: an instrument, a symbol that overrides name, or the market.
 * @throws Refusal where nothing has the symbol
 */
async function ownerOf(
  context: QueryContext,
  calendars: Calendars,
  named: FullSymbol,
): Promise<CalendarOwner> {
  const { assetSchema, country, symbol } = named;
  const owner = ownerNamed(assetSchema, country, symbol);
  if (symbol === '*') return owner;
  const instrument = await rowNamed(context, assetSchema, named);
  if (instrument !== null) return instrument;
  const isFree = await isNobodys(context, assetSchema, named);
  const { overrides = [] } = (await calendars.of(context.reader, owner)).knownAt(context.moment.ms).market;
  if (isFree && overrides.some(({ imported }) => imported?.symbol === symbol)) return owner;
  throw await unknownSymbol(context, assetSchema, named, 'full_symbol');
}

/** `GET …/holiday/list` */
const answerHolidayList: Query<typeof holidayList> = async (parameters, context) => {
  const { full_symbol: named, holiday_code: code, from_date: from, to_date: to, sort, limit } = parameters;
  const { from: fromDay = FIRST_DAY, to: endDay = END_DAY } = dayBounds(from, to);
  const schema = marketSchema(named.assetSchema);
  const calendars = context.lookup.calendars(context.reader);
  const owner = await ownerOf(context, calendars, named);
  const walk = openWalk(context, parameters, {
    full_symbol: `${schema}|${named.country}|${named.symbol}`,
  });
  const { calendar, assetSchema } = await calendars.read(context.reader, owner);
  const seen = walk.place === null ? null : (walk.place.position[0] as number);
  const first = sort === 'asc' && seen !== null ? seen + 1 : fromDay;
  const last = sort === 'desc' && seen !== null ? seen - 1 : endDay - 1;
  const found = holidaysIn(calendar.knownAt(context.moment.ms), first, last, sort)
    .filter(({ rule }) => code === undefined || rule.code === code)
    .take(limit + 1)
    .toArray();
  const page = found.slice(0, limit);
  const rows = page.map((holiday) => recordOf(holiday, assetSchema, named));
  const end = found.length <= limit ? null : { position: [page.at(-1)!.day], pinned: [] };
  return renderRecords(context, rows, walk.paging(end));
};

/** `GET …/holiday/holiday_codes/{country_iso_code}` */
const answerHolidayCodes: Query<typeof holidayCodes> = async (parameters, context) => {
  const { country_iso_code: country } = parameters;
  const { moment } = context;
  const calendars = context.lookup.calendars(context.reader);
  const codes: Record<string, string> = {};
  for (const { assetSchema, country: of, key } of markets) {
    if (of !== country) continue;
    const { market } = calendarOf(assetSchema, country, null, key).knownAt(moment.ms);
    const used = new Set(market.holidays.map(({ code }) => code));
    for (const [code, meaning] of Object.entries(market.codes)) if (used.has(code)) codes[code] = meaning;
  }
  for (const assetSchema of assetSchemas) {
    const announcedOf = announcementsOver(calendarOf(assetSchema, country));
    for (const one of await calendars.overrides(context.reader, assetSchema, country)) {
      const announced = announcedOf(one);
      if (announced === undefined || parseDay(announced)! <= moment.dayIn(assetSchema, country))
        codes[one.holiday_code] ??= one.name;
    }
  }
  return renderResult(codes, context.allocate);
};

/** The queries of these endpoints. */
export const holidayQueries = { holidayList: answerHolidayList, holidayCodes: answerHolidayCodes };

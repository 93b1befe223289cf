// `bourse calendar MARKET`: a market's sessions and what shortens them, for a person who compares them with
// the exchange's page.
import type { Command } from 'commander';
import { formatDay, formatInstant, parseDay, weekdayOf } from '../../base/instant.ts';
import { parseAssetSchema, parseCountry } from '../../contract/identifiers.ts';
import { type Calendar, calendarOf, findMarket, marketOfKey } from '../../market/calendar/calendar.ts';
import { holidaysIn } from '../../market/calendar/holiday-list.ts';
import type { Market, SegmentKind } from '../../market/calendar/market.ts';
import { markets } from '../../market/calendar/markets/index.ts';
import { type CalendarOverride, withOverrides } from '../../market/calendar/overrides.ts';
import type { Session } from '../../market/calendar/session.ts';
import { csvCell } from '../../queries/render/sink.ts';
import { readOverrides } from '../../series/calendars.ts';
import { StoreUnusable } from '../../store/store.ts';
import { readSettings, UsageProblem } from '../config.ts';
import { command, type FlagsOf, jsonFlag, storeFlag } from '../shared/flags.ts';
import { readStore } from '../shared/opened-store.ts';
import { cells, complain, countOf, formatTable, print } from '../shared/output.ts';

const options = {
  '--from <date>': 'first date (default: the first of the year)',
  '--to <date>': 'last date (default: the last of the year)',
  '--exceptions': 'only closings, early closes and late opens',
  ...storeFlag,
  '--csv': 'print CSV instead of a table',
  ...jsonFlag,
} as const;

type Flags = FlagsOf<typeof options>;

const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;

const fields = [
  'date',
  'weekday',
  'session',
  'hours',
  'open',
  'close',
  'holiday_code',
  'name',
  'auction',
] as const;

/**
 * One day of the answer: a session, or a closing, which has no hours. Hours, regular and of auctions, are
 * local, instants UTC.
 */
type Line = Readonly<Record<(typeof fields)[number], string | null>> & { readonly date: string };

/** `US`, `future:US` or the key of a market, such as `US_FUTURE_CBOT_GRAIN`. */
function marketNamed(text: string): Market {
  const [first = '', second] = text.split(':');
  const assetSchema = parseAssetSchema(second === undefined ? 'stock' : first);
  const country = parseCountry(second ?? first);
  const found =
    marketOfKey(text.toUpperCase()) ??
    (assetSchema === null || country === null ? null : findMarket(assetSchema, country));
  if (found !== null) return found;
  const known = markets.map(({ key, onlyByKey, assetSchema: schema, country: of }) => {
    if (onlyByKey) return key;
    return schema === 'stock' ? of : `${schema}:${of}`;
  });
  throw new UsageProblem(`there is no market ${text} with a calendar: use one of ${known.join(', ')}`);
}

function dayNamed(flag: string, text: string): number {
  const day = parseDay(text);
  if (day === null) throw new UsageProblem(`${flag} ${text}: must be a date YYYY-MM-DD`);
  return day;
}

/** The first and the last day of the answer; by default this year's. */
function rangeOf({ from, to }: Flags): readonly [fromDay: number, toDay: number] {
  const year = new Date().getUTCFullYear();
  const fromDay = dayNamed('--from', from ?? `${to?.slice(0, 4) ?? year}-01-01`);
  const toDay = dayNamed('--to', to ?? `${formatDay(fromDay).slice(0, 4)}-12-31`);
  if (fromDay > toDay) throw new UsageProblem('--from is after --to: exchange the two dates');
  return [fromDay, toDay];
}

/** The imported overrides of a market. Without a store there are none, and a note says so. */
async function overridesOf(
  flags: Flags,
  { assetSchema, country }: Market,
): Promise<readonly CalendarOverride[]> {
  try {
    return await readStore(readSettings(flags).store, 'inspect', (reader) =>
      readOverrides(reader, assetSchema, country),
    );
  } catch (error) {
    if (!(error instanceof StoreUnusable) || flags.store !== undefined) throw error;
    complain(`without imported holidays: ${error.message}`);
    return [];
  }
}

const dateOf = (day: number) => ({ date: formatDay(day), weekday: weekdays[weekdayOf(day) - 1]! });

function sessionLine(
  { zone }: Calendar,
  { day, template, segments, openMs, closeMs, holiday }: Session,
): Line {
  const clock = (ms: number): string => formatInstant(ms + zone.offsetAt(ms)).slice(11, 16);
  const hoursOf = (wanted: SegmentKind): string =>
    segments
      .filter(({ kind }) => kind === wanted)
      .map((part) => `${clock(part.openMs)}-${clock(part.closeMs)}`)
      .join(' ');
  return {
    ...dateOf(day),
    session: template,
    hours: hoursOf('regular'),
    open: formatInstant(openMs),
    close: formatInstant(closeMs),
    holiday_code: holiday?.code ?? null,
    name: holiday?.name ?? null,
    auction: hoursOf('auction') || null,
  };
}

/** Sessions and closings in order of date. */
function linesIn(calendar: Calendar, fromDay: number, toDay: number): Line[] {
  const none = { session: 'CLOSED', hours: null, open: null, close: null, auction: null };
  const closings = holidaysIn(calendar, fromDay, toDay)
    .filter(({ template }) => template === 'CLOSED')
    .map(({ day, rule: { code, name } }) => ({ ...dateOf(day), ...none, holiday_code: code, name }));
  const sessions = calendar.sessions(fromDay, toDay + 1).map((session) => sessionLine(calendar, session));
  return [...sessions, ...closings].sort((a, b) => (a.date < b.date ? -1 : 1));
}

function textOf(
  { market }: Calendar,
  lines: readonly Line[],
  shown: readonly Line[],
  [fromDay, toDay]: ReturnType<typeof rangeOf>,
): string {
  const count = (session: string): number => lines.filter((line) => line.session === session).length;
  const [first, last] = market.years;
  const isBeyond = fromDay < parseDay(`${first}-01-01`)! || toDay > parseDay(`${last}-12-31`)!;
  return [
    `${market.key}, local time is ${market.zone}`,
    formatTable([
      ['DATE', 'DAY', 'SESSION', 'HOURS', 'AUCTION', 'OPEN (UTC)', 'CLOSE (UTC)', 'HOLIDAY'],
      ...shown.map(({ date, weekday, session, hours, auction, open, close, name }) =>
        cells(date, weekday, session, hours, auction, open?.slice(0, 16), close?.slice(0, 16), name),
      ),
    ]).trimEnd(),
    `${countOf(lines.length - count('CLOSED'), 'session')}, ${count('EARLY_CLOSE')} with an early close, ${count('LATE_OPEN')} with a late open; ${countOf(count('CLOSED'), 'closing')}`,
    ...(isBeyond && market.holidays.length > 0
      ? [`Holidays are known from ${first} to ${last}: on other days this is only the weekly pattern.`]
      : []),
    '',
  ].join('\n');
}

const csvOf = (lines: readonly Line[]): string =>
  [fields, ...lines.map((line) => fields.map((field) => csvCell(line[field])))]
    .map((cells) => `${cells.join()}\r\n`)
    .join('');

export const calendarCommand = (): Command =>
  command(
    'calendar',
    options,
    'bourse calendar US --from 2026-01-01 --to 2026-12-31',
    'bourse calendar JP --exceptions',
    'bourse calendar HK --from 2025-01-01 --csv > hk.csv',
  )
    .argument(
      '<market>',
      'a country, such as US; of another asset type future:US; or a calendar key, such as US_FUTURE_CBOT_GRAIN',
    )
    .action(async (named: string, flags: Flags) => {
      const market = marketNamed(named);
      const range = rangeOf(flags);
      const overrides = await overridesOf(flags, market);
      const { assetSchema, country, key } = market;
      const calendar = withOverrides(calendarOf(assetSchema, country, null, key), overrides, '*');
      const lines = linesIn(calendar, ...range);
      const shown = flags.exceptions ? lines.filter(({ session }) => session !== 'REGULAR') : lines;
      print(flags, shown, flags.csv ? csvOf(shown) : textOf(calendar, lines, shown, range));
    });

// `bourse calendar MARKET`: a market's sessions and what shortens them, to be checked by a person against the exchange's page.
import { Command } from 'commander';
import { formatDay, formatInstant, parseDay, weekdayOf } from '../base/instant.ts';
import { type Calendar, calendarOf, findMarket, marketOfKey } from '../calendar/calendar.ts';
import { type Holiday, holidaysIn } from '../calendar/holiday-list.ts';
import type { Market } from '../calendar/market.ts';
import { markets } from '../calendar/markets/index.ts';
import { type CalendarOverride, withOverrides } from '../calendar/overrides.ts';
import type { Session } from '../calendar/session.ts';
import type { Zone } from '../calendar/zone.ts';
import { parseAssetSchema, parseCountry } from '../contract/identifiers.ts';
import { csvCell } from '../queries/render/csv-cell.ts';
import { readOverrides } from '../store/calendar-overrides.ts';
import { openStore } from '../store/engines.ts';
import { StoreUnusable } from '../store/store.ts';
import { readSettings, UsageProblem } from './config.ts';
import { jsonOption, storeOption } from './options.ts';
import { countOf, formatTable } from './table.ts';

type Flags = {
  readonly store?: string;
  readonly from?: string;
  readonly to?: string;
  readonly exceptions?: boolean;
  readonly csv?: boolean;
  readonly json?: boolean;
};

const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;

/** One day of the answer: a session, or a closing, which has no hours. Regular hours by local clock; instants are UTC. */
type Line = {
  readonly date: string;
  readonly weekday: string;
  readonly session: 'REGULAR' | 'CLOSED' | 'EARLY_CLOSE' | 'LATE_OPEN';
  readonly hours: string | null;
  readonly open: string | null;
  readonly close: string | null;
  readonly holiday_code: string | null;
  readonly name: string | null;
};

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
  throw new UsageProblem(`${text} is no market with a calendar: it is one of ${known.join(', ')}`);
}

function dayNamed(flag: string, text: string): number {
  const day = parseDay(text);
  if (day === null) throw new UsageProblem(`${flag} ${text}: must be a date YYYY-MM-DD`);
  return day;
}

/** The days from one to another, this year's where none is said. */
function rangeOf({ from, to }: Flags): { fromDay: number; toDay: number } {
  const year = new Date().getUTCFullYear();
  const fromDay = dayNamed('--from', from ?? `${to?.slice(0, 4) ?? year}-01-01`);
  const toDay = dayNamed('--to', to ?? `${formatDay(fromDay).slice(0, 4)}-12-31`);
  if (fromDay > toDay) throw new UsageProblem('--from lies after --to: exchange the two dates');
  return { fromDay, toDay };
}

/** The imported overrides of a market; without a store there are none, which is told. */
async function overridesOf(
  flags: Flags,
  { assetSchema, country }: Market,
): Promise<readonly CalendarOverride[]> {
  try {
    const store = await openStore(
      readSettings(flags.store === undefined ? {} : { store: flags.store }).store,
      'inspect',
    );
    try {
      return await store.snapshot((reader) => readOverrides(reader, assetSchema, country));
    } finally {
      await store.close();
    }
  } catch (error) {
    if (!(error instanceof StoreUnusable) || flags.store !== undefined) throw error;
    process.stderr.write(`bourse: without imported holidays: ${error.message}\n`);
    return [];
  }
}

function clockOf(zone: Zone, ms: number): string {
  return formatInstant(ms + zone.offsetAt(ms)).slice(11, 16);
}

function sessionLine(calendar: Calendar, session: Session): Line {
  const regular = session.segments.filter(({ kind }) => kind === 'regular');
  const span = (part: { openMs: number; closeMs: number }): string =>
    `${clockOf(calendar.zone, part.openMs)}-${clockOf(calendar.zone, part.closeMs)}`;
  return {
    ...dayOf(session.day),
    session: session.template,
    hours: regular.map(span).join(' '),
    open: formatInstant(session.openMs),
    close: formatInstant(session.closeMs),
    holiday_code: session.holiday?.code ?? null,
    name: session.holiday?.name ?? null,
  };
}

const dayOf = (day: number): Pick<Line, 'date' | 'weekday'> => ({
  date: formatDay(day),
  weekday: weekdays[weekdayOf(day) - 1]!,
});

const closingLine = ({ day, rule }: Holiday): Line => ({
  ...dayOf(day),
  session: 'CLOSED',
  hours: null,
  open: null,
  close: null,
  holiday_code: rule.code,
  name: rule.name,
});

/** Sessions and closings in order of date. */
function linesOf(calendar: Calendar, fromDay: number, toDay: number): Line[] {
  const closings = holidaysIn(calendar, fromDay, toDay).filter(({ template }) => template === 'CLOSED');
  const sessions = calendar.sessions(fromDay, toDay + 1).map((session) => sessionLine(calendar, session));
  return [...sessions, ...closings.map(closingLine)].sort((a, b) => (a.date < b.date ? -1 : 1));
}

const fields = ['date', 'weekday', 'session', 'hours', 'open', 'close', 'holiday_code', 'name'] as const;

function textOf(
  { market }: Calendar,
  lines: readonly Line[],
  shown: readonly Line[],
  { fromDay, toDay }: ReturnType<typeof rangeOf>,
): string {
  const count = (session: Line['session']): number => lines.filter((line) => line.session === session).length;
  const [first, last] = [market.years[0], market.years[1]];
  const isBeyond = fromDay < parseDay(`${first}-01-01`)! || toDay > parseDay(`${last}-12-31`)!;
  return [
    `${market.key}, local time is ${market.zone}`,
    formatTable([
      ['DATE', 'DAY', 'SESSION', 'HOURS', 'OPEN (UTC)', 'CLOSE (UTC)', 'HOLIDAY'],
      ...shown.map((line) => [
        ...[line.date, line.weekday, line.session, line.hours ?? ''],
        ...[line.open?.slice(0, 16) ?? '', line.close?.slice(0, 16) ?? '', line.name ?? ''],
      ]),
    ]).trimEnd(),
    `${countOf(lines.length - count('CLOSED'), 'session')}, ${count('EARLY_CLOSE')} with an early close, ${count('LATE_OPEN')} with a late open; ${countOf(count('CLOSED'), 'closing')}`,
    ...(isBeyond && market.holidays.length > 0
      ? [`Holidays are known from ${first} to ${last}: on other days this is the weekly pattern alone.`]
      : []),
    '',
  ].join('\n');
}

export function calendarCommand(): Command {
  return new Command('calendar')
    .argument(
      '<market>',
      'a country, such as US; of another asset type future:US; or a calendar key, such as US_FUTURE_CBOT_GRAIN',
    )
    .option('--from <date>', 'first date (default: the first of the year)')
    .option('--to <date>', 'last date (default: the last of the year)')
    .option('--exceptions', 'only days that are not as every other')
    .addOption(storeOption())
    .option('--csv', 'print CSV instead of a table')
    .addOption(jsonOption())
    .addHelpText(
      'before',
      'Examples:\n  bourse calendar US --from 2026-01-01 --to 2026-12-31\n  bourse calendar JP --exceptions\n  bourse calendar HK --from 2025-01-01 --csv > hk.csv\n',
    )
    .action(async (named: string, flags: Flags) => {
      const market = marketNamed(named);
      const range = rangeOf(flags);
      const overrides = await overridesOf(flags, market);
      const { assetSchema, country, key } = market;
      const calendar = withOverrides(calendarOf(assetSchema, country, null, key), overrides, '*');
      const lines = linesOf(calendar, range.fromDay, range.toDay);
      const shown = flags.exceptions ? lines.filter(({ session }) => session !== 'REGULAR') : lines;
      if (flags.json) process.stdout.write(`${JSON.stringify(shown)}\n`);
      else if (flags.csv)
        process.stdout.write(
          [fields, ...shown.map((line) => fields.map((field) => csvCell(line[field])))]
            .map((cells) => `${cells.join()}\r\n`)
            .join(''),
        );
      else process.stdout.write(textOf(calendar, lines, shown, range));
    });
}

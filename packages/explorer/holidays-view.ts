// A market's month: its sessions, its holidays and shortened days.
import { type ComponentChild, h } from 'preact';
import type { Row } from '../client/index.ts';
import { Empty, Failure, useAnswer, useConnection } from './asking.ts';
import { choices, tableHead } from './controls.ts';
import { builtInMarkets, dayOf, dayText, marketClock } from './market-clock.ts';
import { type Place, setQuery } from './place.ts';
import { RequestPanel } from './request-panel.ts';

type Holiday = Row<'holidayList'>;

const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const monthNames = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
];

/** Another month, such as `2026-12`. */
function plusMonths(month: string, count: number): string {
  const [year, number] = month.split('-').map(Number) as [number, number];
  return new Date(Date.UTC(year, number - 1 + count, 1)).toISOString().slice(0, 7);
}

/** The days of a month in weeks from Monday; null before its first and after its last day. */
function weeksOf(month: string): (string | null)[][] {
  const first = new Date(`${month}-01`);
  const count = new Date(`${plusMonths(month, 1)}-01`).getTime() - first.getTime();
  const blank: (string | null)[] = Array((first.getUTCDay() + 6) % 7).fill(null);
  const days = [
    ...blank,
    ...Array.from(
      { length: count / 86_400_000 },
      (_, index) => `${month}-${String(index + 1).padStart(2, '0')}`,
    ),
  ];
  return Array.from({ length: Math.ceil(days.length / 7) }, (_, week) =>
    Array.from({ length: 7 }, (_, day) => days[week * 7 + day] ?? null),
  );
}

const isClosed = ({ session_template }: Holiday): boolean => session_template === 'CLOSED';

/** The hours of a shortened day by the market's clock; `closed` of another one. */
function hoursOf(holiday: Holiday, market: string): string {
  const { open_timestamp, close_timestamp } = holiday;
  if (isClosed(holiday)) return 'closed';
  if (open_timestamp === null || close_timestamp === null) return '';
  const clock = marketClock(market);
  const [openMs, closeMs] = [Date.parse(open_timestamp), Date.parse(close_timestamp)];
  return `${clock.time(openMs)}–${clock.time(closeMs)} ${clock.name(closeMs)}`;
}

function dayCell(
  day: string | null,
  column: number,
  holidays: readonly Holiday[],
  market: string,
): ComponentChild {
  if (day === null) return h('td', { key: column });
  const holiday = holidays.find(({ calendar_date }) => calendar_date === day);
  const isWeekend = column > 4 && !market.startsWith('crypto');
  const name = holiday === undefined ? (isWeekend ? 'weekend' : '') : isClosed(holiday) ? 'closed' : 'short';
  return h(
    'td',
    { key: column, class: `${name}${day === dayOf(Date.now()) ? ' today' : ''}` },
    h('b', null, Number(day.slice(8))),
    holiday !== undefined && h('span', null, holiday.name, h('small', null, hoursOf(holiday, market))),
  );
}

/** The names of the markets whose calendars are built in. */
const marketNames = (): string[] => [...builtInMarkets().keys()];

/** The month of a market. */
export function HolidaysView({ place }: { place: Place }): ComponentChild {
  const { bourse } = useConnection();
  const { market = 'stock:US', month = dayOf(Date.now()).slice(0, 7) } = place.query;
  const markets = marketNames();
  const full_symbol = `${market}:*`;
  const range = { from: `${month}-01`, to: `${month.slice(0, 4)}-12-31` };
  const { value, error, again } = useAnswer(
    async (asking) => bourse.holidays(full_symbol, { ...range, sort: 'asc', ...asking }).toArray(),
    [market, month],
  );
  const own = (value ?? []).filter(({ symbol }) => symbol === '*');
  const later = own.filter(({ calendar_date }) => calendar_date.slice(0, 7) > month);
  const [year, number] = month.split('-') as [string, string];
  const title = `${monthNames[Number(number) - 1]} ${year}`;
  const step = (name: string, to: string): ComponentChild =>
    h('button', { type: 'button', onClick: () => setQuery({ month: to }) }, name);
  return h(
    'main',
    { class: 'list' },
    h('div', { class: 'head' }, h('h1', null, 'Sessions and holidays'), h('span', { class: 'quiet' }, title)),
    h(
      'div',
      { class: 'toolbar' },
      h(
        'label',
        null,
        'Market',
        choices(
          (markets.includes(market) ? markets : [market, ...markets]).map((one) => [
            one,
            one.replace(':', ' '),
          ]),
          market,
          (one) => setQuery({ market: one }),
        ),
      ),
      h(
        'div',
        { class: 'steps' },
        step('← Month before', plusMonths(month, -1)),
        step('This month', ''),
        step('Next month →', plusMonths(month, 1)),
      ),
    ),
    h(Failure, { error, again }),
    h(
      'table',
      { class: 'month', 'aria-label': title },
      tableHead(weekdays.map((day) => [day])),
      h(
        'tbody',
        null,
        weeksOf(month).map((week, index) =>
          h(
            'tr',
            { key: index },
            week.map((day, column) => dayCell(day, column, own, market)),
          ),
        ),
      ),
    ),
    later.length > 0 &&
      h(
        'section',
        null,
        h('h2', null, 'Later this year'),
        h(
          'ul',
          { class: 'plain later' },
          later.map((holiday) =>
            h(
              'li',
              { key: `${holiday.calendar_date} ${holiday.name}` },
              h('span', { class: 'quiet' }, dayText(holiday.calendar_date)),
              h('span', null, holiday.name),
              h('span', { class: 'quiet' }, hoursOf(holiday, market)),
            ),
          ),
        ),
      ),
    own.length === 0 && value !== undefined && h(Empty, { title: 'No holidays in the rest of this year' }),
    h(RequestPanel, {
      asked: { name: 'holidayList', values: { full_symbol, ...range } },
      file: `holidays-${market.replace(':', '-')}-${month}`,
    }),
  );
}

// The economic calendar: a week by day, with impact, actual, forecast and previous figures.
import { type ComponentChild, h } from 'preact';
import type { Row } from '../client/index.ts';
import { Empty, Failure, useAnswer } from './answer.ts';
import { useConnection } from './connection.ts';
import { numberText } from './figures.ts';
import { dateText, dayOf, dayText } from './market-clock.ts';
import { hashOf, type Place, setQuery } from './place.ts';
import { RequestPanel } from './request-panel.ts';
import { AsOf, asOfInstant } from './toolbar.ts';
import { useTypedField } from './typed-field.ts';

type Event = Row<'economicEvents'>;

const DAY_MS = 86_400_000;
const impacts = ['', 'high', 'medium', 'low'] as const;

/** The Monday of the week that a day is in. */
export function mondayOf(day: string): string {
  const ms = Date.parse(day);
  return dayOf(ms - ((new Date(ms).getUTCDay() + 6) % 7) * DAY_MS);
}

const plusDays = (day: string, days: number): string => dayOf(Date.parse(day) + days * DAY_MS);

function eventRow({
  event_timestamp,
  country_iso_code,
  event_name,
  impact,
  ...figures
}: Event): ComponentChild {
  const { actual_value, forecast_value, previous_value, period, unit, event_code } = figures;
  const isBetter = actual_value !== null && forecast_value !== null && actual_value !== forecast_value;
  return h(
    'tr',
    { key: `${event_timestamp} ${country_iso_code} ${event_code} ${event_name}` },
    h('td', { class: 'quiet' }, event_timestamp.slice(11, 16)),
    h('td', null, country_iso_code),
    h('td', null, h('span', { class: `impact ${impact}` }, impact)),
    h(
      'th',
      { scope: 'row' },
      event_name,
      h('span', { class: 'quiet' }, ` ${[period, unit].filter(Boolean).join(' · ')}`),
    ),
    h('td', { class: isBetter ? 'number strong' : 'number' }, numberText(actual_value)),
    h('td', { class: 'number' }, numberText(forecast_value)),
    h('td', { class: 'number' }, numberText(previous_value)),
  );
}

/** One day of events. */
function EventDay({ day, events }: { day: string; events: readonly Event[] }): ComponentChild {
  const heads = ['UTC', '', 'Impact', 'Event', 'Actual', 'Forecast', 'Previous'];
  return h(
    'section',
    null,
    h('h2', { id: `day-${day}` }, dayText(day)),
    h(
      'div',
      { class: 'scroll', tabIndex: 0, role: 'region', 'aria-labelledby': `day-${day}` },
      h(
        'table',
        { class: 'events', 'aria-labelledby': `day-${day}` },
        h(
          'thead',
          null,
          h(
            'tr',
            null,
            heads.map((head, index) =>
              h(
                'th',
                { key: head, scope: 'col', class: index > 3 ? 'number' : '' },
                head || h('span', { class: 'hidden' }, 'Country'),
              ),
            ),
          ),
        ),
        h('tbody', null, events.map(eventRow)),
      ),
    ),
  );
}

/** A week without events: where the nearest ones are. */
function NearEvents(props: {
  place: Place;
  week: string;
  filters: Readonly<Record<'impact' | 'country_iso_code' | 'as_of', string | undefined>>;
}): ComponentChild {
  const { place, week } = props;
  const { bourse } = useConnection();
  const { impact, country_iso_code, as_of } = props.filters;
  const { value } = useAnswer(
    async (signal) => {
      const filters = { impact: impact as 'high' | undefined, country_iso_code, as_of, limit: 1, signal };
      const [before, after] = await Promise.all([
        bourse.events({ ...filters, to: plusDays(week, -1), sort: 'desc' }).toArray(),
        bourse.events({ ...filters, from: plusDays(week, 7), sort: 'asc' }).toArray(),
      ]);
      return { before: before[0], after: after[0] };
    },
    [week, impact, country_iso_code, as_of],
  );
  const link = (name: string, event: Event | undefined): ComponentChild => {
    if (event === undefined) return null;
    const day = event.event_timestamp.slice(0, 10);
    const href = hashOf(place.path, { ...place.query, week: mondayOf(day) });
    return h('p', null, `${name}: `, h('a', { href }, `${dayText(day)}, ${event.event_name}`));
  };
  const isNone = value !== undefined && value.before === undefined && value.after === undefined;
  return h(
    Empty,
    { title: 'No events in this week' },
    link('Next', value?.after),
    link('Before', value?.before),
    isNone ? h('p', null, 'None are stored with this impact and country.') : null,
  );
}

/** The calendar of a week. */
export function CalendarView({ place }: { place: Place }): ComponentChild {
  const { bourse } = useConnection();
  const { impact = '', country = '' } = place.query;
  const countryField = useTypedField(country);
  const today = place.query.as_of ?? dayOf(Date.now());
  const week = mondayOf(place.query.week ?? today);
  const as_of = asOfInstant(place.query.as_of) || undefined;
  const asked = {
    from_date: week,
    to_date: plusDays(week, 6),
    impact: (impact || undefined) as 'high' | undefined,
    country_iso_code: country || undefined,
    as_of,
  };
  const { value, error, again } = useAnswer(
    async (signal) => {
      const { from_date, to_date, ...filters } = asked;
      return bourse.events({ from: from_date, to: to_date, ...filters, sort: 'asc', signal }).toArray();
    },
    [week, impact, country, as_of],
  );
  const step = (name: string, days: number): ComponentChild =>
    h('button', { type: 'button', onClick: () => setQuery({ week: plusDays(week, days) }) }, name);
  return h(
    'main',
    { class: 'list' },
    h(
      'div',
      { class: 'head' },
      h('h1', null, 'Economic calendar'),
      h(
        'span',
        { class: 'quiet' },
        `${dateText(Date.parse(week))} to ${dateText(Date.parse(plusDays(week, 6)))}`,
      ),
    ),
    h(
      'div',
      { class: 'toolbar' },
      h(
        'div',
        { class: 'steps' },
        step('← Week before', -7),
        h(
          'button',
          {
            type: 'button',
            disabled: week === mondayOf(today),
            onClick: () => setQuery({ week: '' }),
          },
          'This week',
        ),
        step('Next week →', 7),
      ),
      h(
        'div',
        { class: 'segments', role: 'group', 'aria-label': 'Impact' },
        impacts.map((one) =>
          h(
            'button',
            {
              key: one,
              type: 'button',
              'aria-pressed': one === impact,
              onClick: () => setQuery({ impact: one }),
            },
            one === '' ? 'All' : `${one[0]!.toUpperCase()}${one.slice(1)}`,
          ),
        ),
      ),
      h(
        'label',
        null,
        'Country',
        h('input', {
          class: 'country',
          ref: countryField,
          placeholder: 'All',
          maxLength: 2,
          autocomplete: 'off',
          spellcheck: false,
          onChange: (event: globalThis.Event) =>
            setQuery({ country: (event.target as HTMLInputElement).value.trim().toUpperCase() }),
        }),
      ),
      h(AsOf, { place }),
      h('span', { class: 'quiet' }, 'Times in UTC'),
    ),
    error === null ? null : h(Failure, { error, again }),
    value?.length === 0
      ? h(NearEvents, { place, week, filters: asked })
      : [...Map.groupBy(value ?? [], ({ event_timestamp }) => event_timestamp.slice(0, 10))].map(
          ([day, events]) => h(EventDay, { key: day, day, events }),
        ),
    h(RequestPanel, { asked: { name: 'economicEvents', values: asked }, file: `economic-events-${week}` }),
  );
}

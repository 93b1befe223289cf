// The economic calendar: a week by day, with impact, actual, forecast and previous figures.
import { type ComponentChild, h } from 'preact';
import type { Row } from '../client/index.ts';
import { Empty, Failure, MomentField, useAnswer, useConnection, useMoment } from './asking.ts';
import { segments, tableHead } from './controls.ts';
import { numberText } from './figures.ts';
import { dateText, dayOf, dayText, plusDays } from './market-clock.ts';
import { hashOf, type Place, setQuery, useTypedField } from './place.ts';
import { RequestPanel } from './request-panel.ts';

type Event = Row<'economicEvents'>;

const impacts = [
  ['', 'All'],
  ['high', 'High'],
  ['medium', 'Medium'],
  ['low', 'Low'],
] as const;

/** The Monday of the week that a day is in. */
const mondayOf = (day: string): string => plusDays(day, -((new Date(day).getUTCDay() + 6) % 7));

function eventRow({ event_timestamp, country_iso_code, event_name, impact, ...more }: Event): ComponentChild {
  const { actual_value, forecast_value, previous_value, period, unit, event_code } = more;
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

const columns = [
  ['UTC', ''],
  [h('span', { class: 'hidden' }, 'Country'), ''],
  ['Impact', ''],
  ['Event', ''],
  ['Actual', 'number'],
  ['Forecast', 'number'],
  ['Previous', 'number'],
] as const;

/** One day of events. */
function EventDay({ day, events }: { day: string; events: readonly Event[] }): ComponentChild {
  const id = `day-${day}`;
  return h(
    'section',
    null,
    h('h2', { id }, dayText(day)),
    h(
      'div',
      { class: 'scroll', tabIndex: 0, role: 'region', 'aria-labelledby': id },
      h(
        'table',
        { class: 'events', 'aria-labelledby': id },
        tableHead(columns),
        h('tbody', null, events.map(eventRow)),
      ),
    ),
  );
}

/** The events of a calendar that are shown. */
type Filters = { readonly impact: 'high' | undefined; readonly country_iso_code: string | undefined };

/** A week without events: where the nearest ones are. */
function NearEvents(props: { place: Place; week: string; filters: Filters }): ComponentChild {
  const { place, week } = props;
  const { bourse } = useConnection();
  const { impact, country_iso_code } = props.filters;
  const { value } = useAnswer(
    async (asking) => {
      const filters = { impact, country_iso_code, limit: 1, ...asking };
      const [before, after] = await Promise.all([
        bourse.events({ ...filters, to: plusDays(week, -1), sort: 'desc' }).toArray(),
        bourse.events({ ...filters, from: plusDays(week, 7), sort: 'asc' }).toArray(),
      ]);
      return { before: before[0], after: after[0] };
    },
    [week, impact, country_iso_code],
  );
  const link = (name: string, event: Event | undefined): ComponentChild => {
    if (event === undefined) return null;
    const day = event.event_timestamp.slice(0, 10);
    const href = hashOf(place.path, { ...place.query, week: mondayOf(day) });
    return h('p', null, `${name}: `, h('a', { href }, `${dayText(day)}, ${event.event_name}`));
  };
  return h(
    Empty,
    { title: 'No events in this week' },
    link('Next', value?.after),
    link('Before', value?.before),
    value !== undefined &&
      value.before === undefined &&
      value.after === undefined &&
      h('p', null, 'None are stored with this impact and country.'),
  );
}

/** The calendar of a week. */
export function CalendarView({ place }: { place: Place }): ComponentChild {
  const { bourse } = useConnection();
  const { impact = '', country = '' } = place.query;
  const countryField = useTypedField(country);
  const today = dayOf(useMoment().ms);
  const week = mondayOf(place.query.week ?? today);
  const filters: Filters = {
    impact: (impact || undefined) as 'high' | undefined,
    country_iso_code: country || undefined,
  };
  const asked = { from: week, to: plusDays(week, 6), ...filters };
  const { value, error, again } = useAnswer(
    async (asking) => bourse.events({ ...asked, sort: 'asc', ...asking }).toArray(),
    [week, impact, country],
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
      h('span', { class: 'quiet' }, `${dateText(Date.parse(week))} to ${dateText(Date.parse(asked.to))}`),
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
          { type: 'button', disabled: week === mondayOf(today), onClick: () => setQuery({ week: '' }) },
          'This week',
        ),
        step('Next week →', 7),
      ),
      segments<string>('Impact', impacts, impact, (one) => setQuery({ impact: one })),
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
          onChange: ({ currentTarget }) => setQuery({ country: currentTarget.value.trim().toUpperCase() }),
        }),
      ),
      h(MomentField, null),
      h('span', { class: 'quiet' }, 'Times in UTC'),
    ),
    h(Failure, { error, again }),
    value?.length === 0
      ? h(NearEvents, { place, week, filters })
      : [...Map.groupBy(value ?? [], ({ event_timestamp }) => event_timestamp.slice(0, 10))].map(
          ([day, events]) => h(EventDay, { key: day, day, events }),
        ),
    h(RequestPanel, { asked: { name: 'economicEvents', values: asked }, file: `economic-events-${week}` }),
  );
}

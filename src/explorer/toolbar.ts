// The controls of a chart: interval, extended hours, adjustment, as-of.
import { type ComponentChild, h } from 'preact';
import { useState } from 'preact/hooks';
import { dayOf } from './market-clock.ts';
import { hashOf, type Place, readPlace, setQuery } from './place.ts';
import { useTypedField } from './typed-field.ts';

const intervals = ['1M', '5M', '15M', '30M', '60M', '240M', 'DAY', 'WEEK', 'MON'] as const;
const intervalNames: Readonly<Record<string, string>> = {
  '1M': '1 minute',
  DAY: 'days',
  WEEK: 'weeks',
  MON: 'months',
};
const adjustments = [
  ['', 'Not adjusted'],
  ['split', 'Splits'],
  ['dividend', 'Dividends'],
  ['all', 'Splits and dividends'],
] as const;

const DAY_MS = 86_400_000;
const MINUTES_MAX = 1_440;

/** `45` and `45m` are 45 minutes. Null for what is no interval. */
export function intervalOf(text: string): string | null {
  const name = text.trim().toUpperCase();
  if (/^(?:DAY|WEEK|MON)$/.test(name)) return name;
  const minutes = Number(/^(\d{1,4})M?$/.exec(name)?.[1] ?? 0);
  return minutes >= 1 && minutes <= MINUTES_MAX ? `${minutes}M` : null;
}

/** Interval buttons, and a field for any other number of minutes. */
function Intervals({ place, interval }: { place: Place; interval: string }): ComponentChild {
  const [isWrong, setIsWrong] = useState(false);
  const [asset, symbol] = place.path;
  const open = (name: string): void => {
    setIsWrong(false);
    location.hash = hashOf([asset!, symbol!, name], readPlace(location.hash).query);
  };
  const isOther = !intervals.some((name) => name === interval);
  const submit = (event: Event): void => {
    event.preventDefault();
    const field = (event.target as HTMLFormElement).elements.namedItem('interval') as HTMLInputElement;
    const name = intervalOf(field.value);
    setIsWrong(name === null);
    if (name !== null) open(name);
  };
  return h(
    'div',
    { class: 'segments', role: 'group', 'aria-label': 'Interval' },
    intervals.map((name) =>
      h(
        'button',
        {
          key: name,
          type: 'button',
          'aria-pressed': name === interval,
          title: intervalNames[name] ?? `${name.slice(0, -1)} minutes`,
          onClick: () => open(name),
        },
        name,
      ),
    ),
    h(
      'form',
      { onSubmit: submit },
      h('input', {
        key: interval,
        name: 'interval',
        class: isOther ? 'other chosen' : 'other',
        defaultValue: isOther ? interval : '',
        placeholder: '45M',
        'aria-label': 'Other interval: a number of minutes from 1 to 1440',
        title: 'Any number of minutes from 1 to 1440, such as 45M',
        'aria-invalid': isWrong,
        autocomplete: 'off',
        spellcheck: false,
      }),
    ),
  );
}

/** The moment as of which a view shows what was known; empty for now. */
export function AsOf({ place }: { place: Place }): ComponentChild {
  const asOf = place.query.as_of ?? '';
  const field = useTypedField(asOf);
  return h(
    'div',
    { class: asOf === '' ? 'as-of' : 'as-of chosen' },
    h(
      'label',
      { title: 'Show only what was known at the end of this day (UTC)' },
      'As of',
      h('input', {
        type: 'date',
        ref: field,
        min: '1900-01-01',
        max: dayOf(Date.now() - DAY_MS),
        onChange: (event: Event) => {
          const { value, validity } = event.target as HTMLInputElement;
          if (validity.valid) setQuery({ as_of: value });
        },
      }),
    ),
    asOf === '' ? null : h('button', { type: 'button', onClick: () => setQuery({ as_of: '' }) }, 'Now'),
  );
}

/** The instant on the wire of a day in the field: its end, in UTC. */
export const asOfInstant = (day: string | undefined): string =>
  day === undefined || day === '' ? '' : `${day}T23:59:59Z`;

/** All controls of a chart. `hasActions` is whether its kind of instrument has splits and dividends. */
export function Toolbar(props: {
  place: Place;
  interval: string;
  hasExtended: boolean;
  hasActions: boolean;
}): ComponentChild {
  const { place, interval, hasExtended, hasActions } = props;
  const { eth, adjust = '' } = place.query;
  return h(
    'div',
    { class: 'toolbar', role: 'toolbar', 'aria-label': 'Chart' },
    h(Intervals, { place, interval }),
    hasExtended
      ? h(
          'label',
          { class: 'switch' },
          h('input', {
            type: 'checkbox',
            role: 'switch',
            checked: eth === '1',
            onChange: (event: Event) =>
              setQuery({ eth: (event.target as HTMLInputElement).checked ? '1' : '' }),
          }),
          'Extended hours',
        )
      : null,
    hasActions
      ? h(
          'label',
          { class: 'field' },
          'Adjust',
          h(
            'select',
            {
              value: adjust,
              onChange: (event: Event) => setQuery({ adjust: (event.target as HTMLSelectElement).value }),
            },
            adjustments.map(([value, name]) => h('option', { value, key: value }, name)),
          ),
        )
      : null,
    h(AsOf, { place }),
  );
}

// Pieces of views: buttons and lists to choose from, heads of tables; the controls of a chart.
import { type ComponentChild, h } from 'preact';
import { useState } from 'preact/hooks';
import { MomentField } from './asking.ts';
import { hashOf, type Place, readPlace, setQuery } from './place.ts';

/** Buttons of which one is pressed: each value, with its name and its title; `more` stands beside them. */
export const segments = <T extends string>(
  label: string,
  values: readonly (readonly [value: T, name: ComponentChild, title?: string])[],
  chosen: T | undefined,
  choose: (value: T) => void,
  more: ComponentChild = null,
): ComponentChild =>
  h(
    'div',
    { class: 'segments', role: 'group', 'aria-label': label },
    values.map(([value, name, title]) =>
      h(
        'button',
        { key: value, type: 'button', 'aria-pressed': value === chosen, title, onClick: () => choose(value) },
        name,
      ),
    ),
    more,
  );

/** A list of which one is chosen: each value with its name. */
export const choices = (
  values: readonly (readonly [value: string, name: string])[],
  chosen: string,
  choose: (value: string) => void,
): ComponentChild =>
  h(
    'select',
    { value: chosen, onChange: ({ target }: Event) => choose((target as HTMLSelectElement).value) },
    values.map(([value, name]) => h('option', { key: value, value }, name)),
  );

/** The head of a table: each column's name and class. */
export const tableHead = (
  columns: readonly (readonly [name: ComponentChild, style?: string])[],
): ComponentChild =>
  h(
    'thead',
    null,
    h(
      'tr',
      null,
      columns.map(([name, style], at) => h('th', { key: at, scope: 'col', class: style }, name)),
    ),
  );

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
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const field = (event.target as HTMLFormElement).elements.namedItem('interval') as HTMLInputElement;
    const name = intervalOf(field.value);
    setIsWrong(name === null);
    if (name !== null) open(name);
  };
  const other = h(
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
  );
  const values = intervals.map(
    (name) => [name, name, intervalNames[name] ?? `${name.slice(0, -1)} minutes`] as const,
  );
  return segments<string>('Interval', values, interval, open, other);
}

/**
 * All controls of a chart. `isStock`: it has splits and dividends, and pre- and post-market or a closing
 * auction.
 */
export function Toolbar(props: { place: Place; interval: string; isStock: boolean }): ComponentChild {
  const { place, interval, isStock } = props;
  const { eth, adjust = '' } = place.query;
  return h(
    'div',
    { class: 'toolbar', role: 'toolbar', 'aria-label': 'Chart' },
    h(Intervals, { place, interval }),
    isStock &&
      h(
        'label',
        { class: 'switch' },
        h('input', {
          type: 'checkbox',
          role: 'switch',
          checked: eth === '1',
          onChange: ({ currentTarget }) => setQuery({ eth: currentTarget.checked ? '1' : '' }),
        }),
        'Extended hours',
      ),
    isStock &&
      h(
        'label',
        { class: 'field' },
        'Adjust',
        choices(adjustments, adjust, (value) => setQuery({ adjust: value })),
      ),
    h(MomentField, null),
  );
}

// One instrument: what it is, and its views.
import { type ComponentChild, h } from 'preact';
import type { Row } from '../client/index.ts';
import { Failure, useAnswer } from './answer.ts';
import { ChartView } from './chart-view.ts';
import { useConnection } from './connection.ts';
import type { Asset } from './home-view.ts';
import { NewsView } from './news-view.ts';
import { OptionsView } from './options-view.ts';
import { hashOf, type Place } from './place.ts';
import { asOfInstant, intervalOf } from './toolbar.ts';

/** The views of an instrument; the settings of one do not hold for another, but the moment does. */
function Tabs(props: { place: Place; view: string; hasOptions: boolean }): ComponentChild {
  const { place, view, hasOptions } = props;
  const [asset = '', symbol = ''] = place.path;
  const tabs = [
    ['Chart', 'DAY', intervalOf(view) !== null],
    ...(hasOptions ? [['Options', 'options', view === 'options'] as const] : []),
    ['News', 'news', view === 'news'],
  ] as const;
  return h(
    'nav',
    { class: 'tabs', 'aria-label': 'Views of the instrument' },
    tabs.map(([name, path, isHere]) =>
      h(
        'a',
        {
          key: path,
          href: hashOf([asset, symbol, path], { as_of: place.query.as_of ?? '' }),
          'aria-current': isHere ? 'page' : undefined,
        },
        name,
      ),
    ),
  );
}

function viewOf(place: Place, view: string, reference: Row<'instrumentReference'>): ComponentChild {
  if (view === 'options') return h(OptionsView, { place });
  if (view === 'news') return h(NewsView, { place });
  const interval = intervalOf(view);
  if (interval === null) {
    const message = `There is no view or interval "${view}". Intervals are DAY, WEEK, MON and minutes such as 60M.`;
    return h(Failure, { error: new Error(message) });
  }
  const key = `${place.path[0]} ${place.path[1]}`;
  return h(ChartView, { key, place, reference, interval });
}

/** The page of an instrument. */
export function InstrumentView({ place }: { place: Place }): ComponentChild {
  const { bourse } = useConnection();
  const [asset, symbol = '', view = 'DAY'] = place.path as [Asset, string?, string?];
  const asOf = asOfInstant(place.query.as_of);
  const { value, error, again } = useAnswer(
    async (signal) => bourse.reference(asset, symbol, { as_of: asOf || undefined, signal }),
    [asset, symbol, asOf],
  );
  if (value === undefined)
    return h('main', { class: 'instrument' }, error === null ? null : h(Failure, { error, again }));
  const facts = [value.exchange, value.currency, value.status === 'active' ? null : value.status];
  return h(
    'main',
    { class: 'instrument' },
    h(
      'div',
      { class: 'head' },
      h('h1', null, value.symbol),
      h('span', { class: 'name' }, value.name),
      h('span', { class: 'quiet' }, facts.filter((fact) => fact !== null).join(' · ')),
      h(Tabs, { place, view, hasOptions: asset === 'stock' || asset === 'future' }),
    ),
    viewOf(place, view, value),
  );
}

// One instrument: what it is, and its views.
import { type ComponentChild, h } from 'preact';
import type { AssetSchema, Row } from '../client/index.ts';
import { Failure, hashAt, useAnswer, useConnection, useMoment } from './asking.ts';
import { ChartView } from './chart-view.ts';
import { intervalOf } from './controls.ts';
import { NewsView } from './news-view.ts';
import { OptionsView } from './options-view.ts';
import type { Place } from './place.ts';

/** The views of an instrument; the settings of one do not hold for another, but the moment does. */
function Tabs(props: { place: Place; view: string; hasOptions: boolean }): ComponentChild {
  const { place, view, hasOptions } = props;
  const { day } = useMoment();
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
        { key: path, href: hashAt(day, [asset, symbol, path]), 'aria-current': isHere ? 'page' : undefined },
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
  const [asset, symbol = '', view = 'DAY'] = place.path as [AssetSchema, string?, string?];
  const { value, error, again } = useAnswer(
    async (asking) => bourse.reference(asset, symbol, asking),
    [asset, symbol],
  );
  if (value === undefined) return h('main', { class: 'instrument' }, h(Failure, { error, again }));
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

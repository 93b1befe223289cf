// One instrument: what it is, and its views.
import { type ComponentChild, h } from 'preact';
import { Failure, useAnswer } from './answer.ts';
import { ChartView } from './chart-view.ts';
import { useConnection } from './connection.ts';
import type { Asset } from './home-view.ts';
import type { Place } from './place.ts';
import { asOfInstant, intervalOf } from './toolbar.ts';

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
  const interval = intervalOf(view);
  return h(
    'main',
    { class: 'instrument' },
    h(
      'div',
      { class: 'head' },
      h('h1', null, value.symbol),
      h('span', { class: 'name' }, value.name),
      h('span', { class: 'quiet' }, facts.filter((fact) => fact !== null).join(' · ')),
    ),
    interval === null
      ? h(Failure, {
          error: new Error(
            `There is no view or interval "${view}". Intervals are DAY, WEEK, MON and minutes such as 60M.`,
          ),
        })
      : h(ChartView, { key: `${asset} ${symbol}`, place, reference: value, interval }),
  );
}

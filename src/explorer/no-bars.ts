// A chart without bars: what is stored instead, one press away.
import { type ComponentChild, h } from 'preact';
import { Empty, useAnswer } from './answer.ts';
import type { BarChoice } from './bar-feed.ts';
import { useConnection } from './connection.ts';
import { countText } from './figures.ts';
import { dateText } from './market-clock.ts';
import { hashOf, type Place } from './place.ts';

/** Says what is stored of the instrument. */
export function NoBars({ choice, place }: { choice: BarChoice; place: Place }): ComponentChild {
  const { bourse } = useConnection();
  const { asset, symbol, interval, asOf } = choice;
  const [country, name] = symbol.split(':');
  const { value } = useAnswer(
    async (signal) => {
      const options = { country_iso_code: country, query: name, as_of: asOf || undefined, signal };
      const rows = await bourse.coverage(asset, { ...options, limit: 50 }).toArray();
      return rows.filter((row) => row.symbol === name);
    },
    [asset, symbol, asOf],
  );
  const when = asOf === '' ? '' : ` as of ${dateText(Date.parse(asOf))}`;
  return h(
    Empty,
    { title: `No bars of ${interval}${when}` },
    value === undefined
      ? null
      : value.length === 0
        ? h('p', null, `No bars of this instrument are stored${when}.`)
        : h(
            'ul',
            { class: 'plain' },
            value.map((row) =>
              h(
                'li',
                { key: row.interval },
                h('a', { href: hashOf([asset, symbol, row.interval], place.query) }, row.interval),
                ` is stored from ${dateText(Date.parse(row.first_datetime))} to ${dateText(Date.parse(row.last_datetime))}: ${countText(row.bars)} bars`,
              ),
            ),
          ),
    asOf === ''
      ? null
      : h(
          'p',
          null,
          h('a', { href: hashOf(place.path, { ...place.query, as_of: '' }) }, 'Show what is known now'),
        ),
  );
}

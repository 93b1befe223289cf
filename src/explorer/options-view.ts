// The option chain of an instrument: one expiration, calls and puts by strike, what is in the money shaded.
import { type ComponentChild, h } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Bourse, Row } from '../client/index.ts';
import { Empty, Failure, useAnswer } from './answer.ts';
import type { BarChoice } from './bar-feed.ts';
import { useConnection } from './connection.ts';
import { countText, digitsOf, numberText, priceText } from './figures.ts';
import { dateText } from './market-clock.ts';
import { hashOf, type Place, setQuery } from './place.ts';
import { RequestPanel } from './request-panel.ts';
import { AsOf, asOfInstant } from './toolbar.ts';

type Contract = Row<'optionSearch'>;
type Asset = BarChoice['asset'];

/** Contracts of one expiration, by type and whether they are in the money. */
type Side = { readonly contract: Contract; readonly isInTheMoney: boolean };
type Chain = { readonly strike: number; readonly call: Side | undefined; readonly put: Side | undefined };

const DAY_MS = 86_400_000;

/** The lists that make up a chain: the service gives each by itself. */
const lists = (['call', 'put'] as const).flatMap((type) =>
  (['in', 'out_of'] as const).map((side) => ({
    type,
    moneyness: `${side}_the_money` as const,
    name: `${type}s ${side.replace('_', ' ')} the money`,
  })),
);

async function askChain(
  bourse: Bourse,
  asset: Asset,
  symbol: string,
  known: {
    readonly expiration_date: string;
    readonly as_of: string | undefined;
    readonly signal: AbortSignal;
  },
): Promise<Chain[]> {
  const sides = lists.map(async ({ type, moneyness }) => {
    const contracts = await bourse.options(asset, symbol, type, moneyness, known).toArray();
    return contracts.map((contract) => ({ contract, isInTheMoney: moneyness === 'in_the_money' }));
  });
  const byStrike = Map.groupBy((await Promise.all(sides)).flat(), ({ contract }) => contract.strike_price);
  return [...byStrike]
    .sort(([one], [other]) => one - other)
    .map(([strike, own]) => ({
      strike,
      call: own.find(({ contract }) => contract.option_type === 'call'),
      put: own.find(({ contract }) => contract.option_type === 'put'),
    }));
}

function contractCell(side: Side | undefined, name: string): ComponentChild {
  if (side === undefined) return h('td', { class: name }, '–');
  const { contract, isInTheMoney } = side;
  const symbol = `${contract.country_iso_code}:${contract.symbol}`;
  return h(
    'td',
    { class: `${name}${isInTheMoney ? ' in-the-money' : ''}` },
    h(
      'a',
      { href: hashOf(['option', symbol, 'DAY']), title: contract.symbol },
      // The type and strike are the last nine characters (contract 1.4); a phone has room for them alone.
      h('span', { class: 'root' }, contract.symbol.slice(0, -9)),
      contract.symbol.slice(-9),
    ),
    isInTheMoney ? h('span', { class: 'quiet' }, ' ITM') : null,
  );
}

function ChainTable({ chain, price }: { chain: readonly Chain[]; price: number | null }): ComponentChild {
  const middle = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    // Where a browser is told to bring an element into sight, the Tab key goes on from there and not from the top of the page.
    const below = (middle.current?.getBoundingClientRect().bottom ?? 0) - innerHeight;
    if (below > 0) scrollBy(0, below);
  }, [chain]);
  const digits = digitsOf(chain.map(({ strike }) => strike));
  const above = price === null ? -1 : chain.findIndex(({ strike }) => strike > price);
  const rows = chain.map(({ strike, call, put }, index) => [
    index === above
      ? h(
          'tr',
          { class: 'price', ref: middle, key: 'price' },
          h('td', { colSpan: 3 }, `Newest price ${numberText(price)}`),
        )
      : null,
    h(
      'tr',
      { key: strike },
      contractCell(call, 'call'),
      h('th', { scope: 'row', class: 'strike' }, priceText(strike, digits)),
      contractCell(put, 'put'),
    ),
  ]);
  return h(
    'table',
    { class: 'chain', 'aria-label': 'Contracts by strike' },
    h(
      'thead',
      null,
      h(
        'tr',
        null,
        h('th', { scope: 'col', class: 'call' }, 'Calls'),
        h('th', { scope: 'col', class: 'strike' }, 'Strike'),
        h('th', { scope: 'col', class: 'put' }, 'Puts'),
      ),
    ),
    h('tbody', null, rows),
  );
}

/** The requests that a chain was made of, one at a time. */
function ChainRequests(props: {
  asset: Asset;
  symbol: string;
  expiration: string;
  as_of: string | undefined;
}): ComponentChild {
  const { asset, symbol, expiration, as_of } = props;
  const [chosen, setChosen] = useState(0);
  const { type, moneyness } = lists[chosen]!;
  return [
    h(
      'p',
      null,
      h(
        'label',
        null,
        'The chain is made of four requests: ',
        h(
          'select',
          {
            value: chosen,
            onChange: (event: Event) => setChosen(Number((event.target as HTMLSelectElement).value)),
          },
          lists.map(({ name }, index) => h('option', { key: name, value: index }, name)),
        ),
      ),
    ),
    h(RequestPanel, {
      asked: {
        name: 'optionSearch',
        values: {
          schema_asset: asset,
          country_symbol: symbol,
          option_type: type,
          moneyness,
          expiration_date: expiration,
          as_of,
        },
      },
      file: `${symbol.replace(':', '-')}-${expiration}-${type}s-${moneyness.replaceAll('_', '-')}`,
    }),
  ];
}

/** The chain of an underlying. */
export function OptionsView({ place }: { place: Place }): ComponentChild {
  const { bourse } = useConnection();
  const [asset, symbol] = place.path as [Asset, string];
  const as_of = asOfInstant(place.query.as_of) || undefined;
  const expirations = useAnswer(
    async (signal) => bourse.expirations(asset, symbol, { as_of, signal }),
    [asset, symbol, as_of],
  );
  const days = expirations.value?.map(({ expiration_date }) => expiration_date) ?? [];
  const { expiration = days[0] } = place.query;
  const chain = useAnswer(
    async (signal) => {
      if (expiration === undefined) return undefined;
      return askChain(bourse, asset, symbol, { expiration_date: expiration, as_of, signal });
    },
    [asset, symbol, expiration, as_of],
  );
  // Beside the chain, which is shown without it too.
  const price = useAnswer(
    async (signal) => (await bourse.latest(asset, symbol, '1M', { limit: 1, as_of, signal })).at(-1)?.close,
    [asset, symbol, as_of],
  );
  const error = expirations.error ?? chain.error;
  const nowMs = as_of === undefined ? Date.now() : Date.parse(as_of);
  return h(
    'section',
    { class: 'options', 'aria-label': 'Option chain' },
    h(
      'div',
      { class: 'toolbar' },
      days.length === 0
        ? null
        : h(
            'div',
            { class: 'segments', role: 'group', 'aria-label': 'Expiration' },
            days.map((day) =>
              h(
                'button',
                {
                  key: day,
                  type: 'button',
                  'aria-pressed': day === expiration,
                  onClick: () => setQuery({ expiration: day }),
                },
                dateText(Date.parse(day)),
                h(
                  'span',
                  { class: 'quiet' },
                  ` ${Math.max(0, Math.ceil((Date.parse(day) - nowMs) / DAY_MS))}d`,
                ),
              ),
            ),
          ),
      h(AsOf, { place }),
    ),
    error === null ? null : h(Failure, { error, again: chain.again }),
    expirations.value !== undefined && days.length === 0
      ? h(
          Empty,
          { title: 'No option expires after this moment' },
          h('p', null, 'No contracts of this underlying are stored, or all have expired.'),
        )
      : null,
    chain.value === undefined || chain.value.length === 0
      ? null
      : [
          h(
            'p',
            { class: 'quiet' },
            `${countText(chain.value.length)} strikes; in the money by the newest price is shaded.`,
          ),
          h(ChainTable, { chain: chain.value, price: price.value ?? null }),
        ],
    expiration === undefined ? null : h(ChainRequests, { asset, symbol, expiration, as_of }),
  );
}

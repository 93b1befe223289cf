// The option chain of an instrument: one expiration, calls and puts by strike, what is in the money shaded.
import { type ComponentChild, h } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Bourse, BourseError, type Row } from '../client/index.ts';
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

/** A list that a chain is made of: the service gives each by itself. */
type ChainList = {
  readonly type: 'call' | 'put';
  readonly moneyness: 'in_the_money' | 'out_of_the_money';
  readonly name: string;
  /** A price below all strikes, where the service knows none of the underlying. */
  readonly ref_asset_price?: number;
};

const pricedLists: readonly ChainList[] = (['call', 'put'] as const).flatMap((type) =>
  (['in', 'out_of'] as const).map((side) => ({
    type,
    moneyness: `${side}_the_money` as const,
    name: `${type}s ${side.replace('_', ' ')} the money`,
  })),
);

/** The lists of all strikes. Only those of futures may be zero or negative. */
function unpricedLists(asset: Asset): ChainList[] {
  const ref_asset_price = asset === 'future' ? -1_000_000 : 0.000001;
  return [
    { type: 'call', moneyness: 'out_of_the_money', name: 'calls', ref_asset_price },
    { type: 'put', moneyness: 'in_the_money', name: 'puts', ref_asset_price },
  ];
}

const hasNoPrice = (error: unknown): boolean => error instanceof BourseError && error.error === 'no_data';

/** A chain, and the lists that it was made of. */
type Answered = { readonly chain: readonly Chain[]; readonly lists: readonly ChainList[] };

async function askChain(
  bourse: Bourse,
  asset: Asset,
  symbol: string,
  known: {
    readonly expiration_date: string;
    readonly as_of: string | undefined;
    readonly signal: AbortSignal;
  },
  lists = pricedLists,
): Promise<Answered> {
  const sides = lists.map(async ({ type, moneyness, ref_asset_price }) => {
    const filters = { ...known, ref_asset_price };
    const contracts = await bourse.options(asset, symbol, type, moneyness, filters).toArray();
    const isInTheMoney = ref_asset_price === undefined && moneyness === 'in_the_money';
    return contracts.map((contract) => ({ contract, isInTheMoney }));
  });
  try {
    return { chain: byStrike((await Promise.all(sides)).flat()), lists };
  } catch (error) {
    if (lists !== pricedLists || !hasNoPrice(error)) throw error;
    return askChain(bourse, asset, symbol, known, unpricedLists(asset));
  }
}

function byStrike(sides: readonly Side[]): Chain[] {
  const strikes = Map.groupBy(sides, ({ contract }) => contract.strike_price);
  return [...strikes]
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
    // After `scrollIntoView` the Tab key continues from that element, and not from the top of the page.
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
  lists: readonly ChainList[];
}): ComponentChild {
  const { asset, symbol, expiration, as_of, lists } = props;
  const [index, setChosen] = useState(0);
  const chosen = Math.min(index, lists.length - 1);
  const { type, moneyness, ref_asset_price } = lists[chosen]!;
  return [
    h(
      'p',
      null,
      h(
        'label',
        null,
        `The chain is made of ${lists.length === 2 ? 'two' : 'four'} requests: `,
        h(
          'select',
          {
            value: chosen,
            onChange: (event: Event) => setChosen(Number((event.target as HTMLSelectElement).value)),
          },
          lists.map(({ name }, at) => h('option', { key: name, value: at }, name)),
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
          ref_asset_price,
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
  const answer = useAnswer(
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
  const error = expirations.error ?? answer.error;
  const { chain = [], lists = pricedLists } = answer.value ?? {};
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
    error === null ? null : h(Failure, { error, again: answer.again }),
    expirations.value !== undefined && days.length === 0
      ? h(
          Empty,
          { title: 'No option expires after this moment' },
          h('p', null, 'No contracts of this underlying are stored, or all have expired.'),
        )
      : null,
    chain.length === 0
      ? null
      : [
          h(
            'p',
            { class: 'quiet' },
            `${countText(chain.length)} strikes; ${lists === pricedLists ? 'in the money by the newest price is shaded' : 'no price of the underlying is stored, so none is in the money'}.`,
          ),
          h(ChainTable, { chain, price: price.value ?? null }),
        ],
    expiration === undefined ? null : h(ChainRequests, { asset, symbol, expiration, as_of, lists }),
  );
}

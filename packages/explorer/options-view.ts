// The option chain of an instrument: one expiration, calls and puts by strike, what is in the money shaded.
import { type ComponentChild, h } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type AssetSchema, type Bourse, BourseError, type Row } from '../client/index.ts';
import { type Asking, Empty, Failure, MomentField, useAnswer, useConnection, useMoment } from './asking.ts';
import { choices, segments, tableHead } from './controls.ts';
import { countText, digitsOf, numberText, priceText } from './figures.ts';
import { dateText } from './market-clock.ts';
import { hashOf, type Place, setQuery } from './place.ts';
import { RequestPanel } from './request-panel.ts';

type Contract = Row<'optionSearch'>;

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
function unpricedLists(asset: AssetSchema): ChainList[] {
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
  asset: AssetSchema,
  symbol: string,
  asking: Asking & { readonly expiration_date: string },
  lists = pricedLists,
): Promise<Answered> {
  const sides = lists.map(async ({ type, moneyness, ref_asset_price }) => {
    const filters = { ref_asset_price, ...asking };
    const contracts = await bourse.options(asset, symbol, type, moneyness, filters).toArray();
    const isInTheMoney = ref_asset_price === undefined && moneyness === 'in_the_money';
    return contracts.map((contract) => ({ contract, isInTheMoney }));
  });
  try {
    return { chain: byStrike((await Promise.all(sides)).flat()), lists };
  } catch (error) {
    if (lists !== pricedLists || !hasNoPrice(error)) throw error;
    return askChain(bourse, asset, symbol, asking, unpricedLists(asset));
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
    isInTheMoney && h('span', { class: 'quiet' }, ' ITM'),
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
    index === above &&
      h(
        'tr',
        { class: 'price', ref: middle, key: 'price' },
        h('td', { colSpan: 3 }, `Newest price ${numberText(price)}`),
      ),
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
    tableHead([
      ['Calls', 'call'],
      ['Strike', 'strike'],
      ['Puts', 'put'],
    ]),
    h('tbody', null, rows),
  );
}

/** The requests that a chain was made of, one at a time. */
function ChainRequests(props: {
  asset: AssetSchema;
  symbol: string;
  expiration: string;
  lists: readonly ChainList[];
}): ComponentChild {
  const { asset, symbol, expiration, lists } = props;
  const [index, setChosen] = useState(0);
  const chosen = Math.min(index, lists.length - 1);
  const { type, moneyness, ref_asset_price } = lists[chosen]!;
  const values = {
    ...{ schema_asset: asset, country_symbol: symbol, option_type: type, moneyness },
    ...{ ref_asset_price, expiration_date: expiration },
  };
  return [
    h(
      'p',
      null,
      h(
        'label',
        null,
        `The chain combines ${lists.length === 2 ? 'two' : 'four'} API calls; shown below: `,
        choices(
          lists.map(({ name }, at) => [String(at), name] as const),
          String(chosen),
          (at) => setChosen(Number(at)),
        ),
      ),
    ),
    h(RequestPanel, {
      asked: { name: 'optionSearch', values },
      file: `${symbol.replace(':', '-')}-${expiration}-${type}s-${moneyness.replaceAll('_', '-')}`,
    }),
  ];
}

/** The chain of an underlying. */
export function OptionsView({ place }: { place: Place }): ComponentChild {
  const { bourse } = useConnection();
  const [asset, symbol] = place.path as [AssetSchema, string];
  const now = useMoment();
  const expirations = useAnswer(async (asking) => bourse.expirations(asset, symbol, asking), [asset, symbol]);
  const days = expirations.value?.map(({ expiration_date }) => expiration_date) ?? [];
  const { expiration = days[0] } = place.query;
  const answer = useAnswer(
    async (asking) => {
      if (expiration === undefined) return undefined;
      return askChain(bourse, asset, symbol, { expiration_date: expiration, ...asking });
    },
    [asset, symbol, expiration],
  );
  // Beside the chain, which is shown without it too.
  const price = useAnswer(
    async (asking) => (await bourse.latest(asset, symbol, '1M', { limit: 1, ...asking })).at(-1)?.close,
    [asset, symbol],
  );
  const { chain = [], lists = pricedLists } = answer.value ?? {};
  const expirationName = (day: string): ComponentChild => {
    const daysLeft = Math.max(0, Math.ceil((Date.parse(day) - now.ms) / DAY_MS));
    return [dateText(Date.parse(day)), h('span', { class: 'quiet' }, ` ${daysLeft}d`)];
  };
  return h(
    'section',
    { class: 'options', 'aria-label': 'Option chain' },
    h(
      'div',
      { class: 'toolbar' },
      days.length > 0 &&
        segments(
          'Expiration',
          days.map((day) => [day, expirationName(day)] as const),
          expiration,
          (day) => setQuery({ expiration: day }),
        ),
      h(MomentField, null),
    ),
    h(Failure, { error: expirations.error ?? answer.error, again: answer.again }),
    expirations.value !== undefined &&
      days.length === 0 &&
      h(
        Empty,
        { title: 'No option expires after this moment' },
        h('p', null, 'No contracts of this underlying are stored, or all have expired.'),
      ),
    chain.length > 0 && [
      h(
        'p',
        { class: 'quiet' },
        `${countText(chain.length)} strikes. ${lists === pricedLists ? 'Contracts in the money at the newest price are shaded' : 'No price of the underlying is stored, so no contract is shaded'}.`,
      ),
      h(ChainTable, { chain, price: price.value ?? null }),
    ],
    expiration !== undefined && h(ChainRequests, { asset, symbol, expiration, lists }),
  );
}

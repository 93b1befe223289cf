// The overview: every stored series, an instrument a row.
import { type ComponentChild, h } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { AssetSchema, Row } from '../client/index.ts';
import { Empty, Failure, useAnswer, useConnection, useMoment } from './asking.ts';
import { segments, tableHead } from './controls.ts';
import { changeText, countText, digitsOf, priceText } from './figures.ts';
import { builtInMarkets, dateText, marketClock } from './market-clock.ts';
import { hashOf, type Place, readPlace, setQuery } from './place.ts';
import { RequestPanel } from './request-panel.ts';

const assetNames: Readonly<Record<AssetSchema, string>> = {
  stock: 'Stocks',
  crypto: 'Crypto',
  forex: 'Forex',
  future: 'Futures',
  option: 'Options',
};

/** The kinds of instruments, in the order in which the page has them. */
export const assets = Object.keys(assetNames) as AssetSchema[];

const kinds = [['', 'All'], ...Object.entries(assetNames)] as const;

/** Series of each kind that the overview asks for; a filter finds the others. */
const SERIES_MAX = 300;
const TYPING_MS = 150;

/** Weeks that a row's line has. */
const WEEKS = 10;

type Series = Row<'seriesCoverage'>;

/** The series of one instrument. */
type Stored = { readonly asset: AssetSchema; readonly symbol: string; readonly series: readonly Series[] };

function grouped(asset: AssetSchema, series: readonly Series[]): Stored[] {
  const bySymbol = Map.groupBy(series, (one) => `${one.country_iso_code}:${one.symbol}`);
  return Array.from(bySymbol, ([symbol, own]) => ({ asset, symbol, series: own }));
}

/** A line of closes. */
function Sparkline({ closes }: { closes: readonly number[] }): ComponentChild {
  const [low, high] = [Math.min(...closes), Math.max(...closes)];
  const step = 100 / Math.max(closes.length - 1, 1);
  const points = closes.map((close, index) => {
    const height = high === low ? 0.5 : (close - low) / (high - low);
    return `${(index * step).toFixed(1)},${(27 - height * 24).toFixed(1)}`;
  });
  return h(
    'svg',
    {
      class: `sparkline ${closes.at(-1)! >= closes[0]! ? 'up' : 'down'}`,
      viewBox: '0 0 100 30',
      preserveAspectRatio: 'none',
      'aria-hidden': true,
    },
    h('polyline', { points: points.join(' '), 'vector-effect': 'non-scaling-stroke' }),
  );
}

/** The name of an instrument, asked for once its row is in sight, and once in a tab. */
function useName({ asset, symbol }: Stored) {
  const { bourse, names } = useConnection();
  const id = [useMoment().day, asset, symbol].join();
  const row = useRef<HTMLTableRowElement>(null);
  const [isSeen, setIsSeen] = useState(false);
  useEffect(() => {
    const watch = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setIsSeen(true);
    });
    watch.observe(row.current!);
    return () => watch.disconnect();
  }, []);
  useAnswer(
    async (asking) =>
      isSeen &&
      !names.has(id) &&
      names.set(id, (await bourse.reference(asset, symbol, asking)).name ?? symbol),
    [id, isSeen],
  );
  return { row, name: names.get(id) ?? symbol };
}

/** Closes of instruments, oldest first, by their symbols. */
type Closes = ReadonlyMap<string, readonly number[]>;

/** The newest closes of many instruments: one request for all of them. */
function useCloses(
  asset: AssetSchema,
  symbols: readonly string[],
  interval: 'DAY' | 'WEEK',
  limit: number,
): Closes {
  const { bourse } = useConnection();
  const { value } = useAnswer(
    async (asking) => {
      if (symbols.length === 0) return;
      const { data } = await bourse.latestOfMany(asset, symbols, interval, { limit, ...asking });
      const bars = Map.groupBy(data, (bar) => `${bar.country_iso_code}:${bar.symbol}`);
      return new Map(Array.from(bars, ([symbol, own]) => [symbol, own.map(({ close }) => close)]));
    },
    [asset, symbols.join(), interval],
  );
  return value ?? new Map();
}

/**
 * The date of the session that has an instant, as UTC has it: one that opens in the evening has the date of
 * the next day.
 */
const sessionDateMs = (market: string, ms: number): number =>
  marketClock(market).localMs(ms) + (builtInMarkets().get(market)?.eveningMs ?? 0);

function StoredRow(props: { stored: Stored; days: Closes; weeks: Closes }): ComponentChild {
  const { asset, symbol, series } = props.stored;
  const { row, name } = useName(props.stored);
  const days = props.days.get(symbol) ?? [];
  const [before, last] = [days.at(-2), days.at(-1)];
  const market = `${asset}:${symbol.slice(0, symbol.indexOf(':'))}`;
  /** The session of the first or the last bar of all series. */
  const dateOf = (name: 'first_datetime' | 'last_datetime', pick: typeof Math.min): string =>
    dateText(sessionDateMs(market, pick(...series.map((one) => Date.parse(one[name])))));
  const closes = [...(props.weeks.get(symbol) ?? []), ...days.slice(-1)];
  return h(
    'tr',
    { ref: row },
    h(
      'th',
      { scope: 'row' },
      h('a', { href: hashOf([asset, symbol, 'DAY']) }, symbol.split(':')[1]),
      h('span', { class: 'name' }, name),
    ),
    h('td', { class: 'wide' }, closes.length > 1 && h(Sparkline, { closes })),
    h('td', { class: 'number' }, last !== undefined && priceText(last, digitsOf(closes))),
    h(
      'td',
      { class: `number ${before !== undefined && last! < before ? 'down' : 'up'}` },
      before !== undefined && changeText(before, last!),
    ),
    h(
      'td',
      { class: 'intervals' },
      series.map((one) =>
        h(
          'a',
          { class: 'chip', key: one.interval, href: hashOf([asset, symbol, one.interval]) },
          one.interval,
        ),
      ),
    ),
    h('td', { class: 'wide' }, dateOf('first_datetime', Math.min)),
    h('td', { class: 'wide' }, dateOf('last_datetime', Math.max)),
    h('td', { class: 'number wide' }, countText(series.reduce((sum, one) => sum + one.bars, 0))),
  );
}

/** The heads of a table's columns and their classes. */
const columns = [
  ['Instrument', ''],
  [`${WEEKS} weeks`, 'wide'],
  ['Last', 'number'],
  ['Change', 'number'],
  ['Stored', ''],
  ['From', 'wide'],
  ['To', 'wide'],
  ['Bars', 'number wide'],
] as const;

/** The rows of one kind. */
function StoredTable({ asset, query }: { asset: AssetSchema; query: string }): ComponentChild {
  const { bourse } = useConnection();
  const { value, error, again } = useAnswer(
    async (asking) =>
      bourse.coverage(asset, { query: query || undefined, limit: SERIES_MAX, ...asking }).toArray(),
    [asset, query],
  );
  const rows = grouped(asset, value ?? []);
  const symbols = rows.map(({ symbol }) => symbol);
  const days = useCloses(asset, symbols, 'DAY', 2);
  const weeks = useCloses(asset, symbols, 'WEEK', WEEKS);
  if (error !== null) return asset === 'stock' ? h(Failure, { error, again }) : null;
  // Until there is an answer the page does not say that nothing is stored.
  if (value === undefined) return h('section', { 'aria-busy': true });
  if (value.length === 0) return null;
  return h(
    'section',
    null,
    h('h2', { id: `stored-${asset}` }, assetNames[asset]),
    h(
      'table',
      { class: 'stored', 'aria-labelledby': `stored-${asset}` },
      tableHead(columns),
      h(
        'tbody',
        null,
        rows.map((stored) => h(StoredRow, { key: stored.symbol, stored, days, weeks })),
      ),
    ),
    value.length >= SERIES_MAX &&
      h('p', { class: 'quiet' }, `The first ${SERIES_MAX} series. The filter finds the others.`),
  );
}

/** Keys up and down go from row to row. */
function onArrow(event: KeyboardEvent): void {
  const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  const links = [...document.querySelectorAll<HTMLElement>('.stored th a')];
  const at = links.indexOf(document.activeElement as HTMLElement);
  if (by === 0 || links.length === 0) return;
  event.preventDefault();
  links[Math.min(Math.max(at + by, 0), links.length - 1)]!.focus();
}

/** The overview. */
export function HomeView({ place }: { place: Place }): ComponentChild {
  const { query: filter = '', kind = '' } = place.query;
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // Another view has no such filter.
  useEffect(() => () => clearTimeout(timer.current), []);
  const filterBy = (text: string): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      // The address may lead elsewhere already.
      if (readPlace(location.hash).path.length === 0) setQuery({ query: text.trim() });
    }, TYPING_MS);
  };
  return h(
    'main',
    { class: 'home', onKeyDown: onArrow },
    h(
      'div',
      { class: 'head' },
      h('h1', null, 'What is stored'),
      h('input', {
        type: 'search',
        defaultValue: filter,
        onInput: ({ currentTarget }) => filterBy(currentTarget.value),
        placeholder: 'Symbol begins with …',
        'aria-label': 'Filter by the beginning of the symbol',
        autocomplete: 'off',
        spellcheck: false,
      }),
      segments<string>('Kind', kinds, kind, (asset) => setQuery({ kind: asset })),
    ),
    h(
      'div',
      { class: 'tables' },
      assets
        .filter((asset) => kind === '' || asset === kind)
        .map((asset) => h(StoredTable, { key: asset, asset, query: filter })),
    ),
    h(
      'div',
      { class: 'if-empty' },
      h(
        Empty,
        { title: filter === '' ? 'Nothing is stored yet' : `No stored symbol begins with ${filter}` },
        filter === '' && h('p', null, 'Import a file: ', h('code', null, 'bourse import bars FILE')),
      ),
    ),
    h(RequestPanel, {
      asked: {
        name: 'seriesCoverage',
        values: { schema_asset: kind || 'stock', query: filter || undefined },
      },
      file: `coverage-${kind || 'stock'}`,
    }),
  );
}

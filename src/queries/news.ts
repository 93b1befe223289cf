// News of everything, a market or one instrument: by range (spec 4.4) and the latest (spec 4.5).
import { END_MS, formatInstant, type ParsedInstant } from '../base/instant.ts';
import type { AssetSchema, FullSymbol } from '../contract/identifiers.ts';
import { latestNews, type newsList } from '../contract/news.ts';
import { dayOfBound } from '../market/calendar/bar-range.ts';
import { calendarOf } from '../market/calendar/calendar.ts';
import type { RowOf } from '../store/schema/dataset.ts';
import { news } from '../store/schema/news.ts';
import { answerPage, takeRows } from './dataset-page.ts';
import { instrumentOrNull, isNobodys, symbolsShown, unknownSymbol } from './known-instrument.ts';
import type { DayRange } from './lookup.ts';
import type { Query, QueryContext } from './query.ts';
import { type Bounds, instantBounds } from './range.ts';
import { renderRecords, type WireRecord } from './render/records.ts';
import { tellingHistory } from './symbol-history.ts';

type Item = RowOf<typeof news>;
type Where = Partial<Pick<Item, 'asset_name' | 'country_iso_code' | 'symbol'>>;

/** The order of every list; each filter on instruments has an index with it. */
const order = ['published_date', 'news_id'] as const;

/** The filter on instruments. @throws Refusal `unknown_instrument` for a symbol that nothing has */
async function whereOf(
  context: QueryContext,
  named: FullSymbol | undefined,
  days: DayRange | null,
): Promise<Where> {
  if (named === undefined) return {};
  const market = { asset_name: named.assetSchema, country_iso_code: named.country };
  if (named.symbol === '*') return market;
  const found = await instrumentOrNull(context, named.assetSchema, named, days);
  if (found !== null) return { ...market, symbol: found.instrument.symbol };
  const where = { ...market, symbol: named.symbol };
  const isFree = await isNobodys(context, named.assetSchema, named);
  const range = published(context);
  const read = { where, range, order: [['published_date', 'asc'] as const], limit: 1 };
  const [item] = isFree ? await context.reader.rows(news, read) : [];
  if (item === undefined) throw await unknownSymbol(context, named.assetSchema, named, 'full_symbol');
  return where;
}

/** The market's dates of a range, on which a symbol may have been another instrument's (contract 9.6). */
function daysOf({ assetSchema, country }: FullSymbol, from: ParsedInstant, to: ParsedInstant): DayRange {
  const market = calendarOf(assetSchema, country);
  return { from: dayOfBound(market, from, null), to: dayOfBound(market, to, null) };
}

/** The items that a request may see: those that were published by its moment. */
const published = ({ asOf }: QueryContext, range: Bounds = {}): Bounds =>
  asOf === null ? range : { ...range, to: Math.min(range.to ?? END_MS, asOf.ms + 1) };

/** How items are written: under the symbols that the request sees. */
function writing(context: QueryContext): (item: Item) => Promise<WireRecord> | WireRecord {
  const { asOf } = context;
  const plain = (item: Item): WireRecord => ({
    ...item,
    published_date: formatInstant(item.published_date),
  });
  if (asOf === null) return plain;
  asOf.limits.add('text and sentiment of news');
  const symbolOf = symbolsShown(context);
  return async (item) => {
    const { asset_name: assetSchema, country_iso_code: country, symbol } = item;
    if (assetSchema === null || country === null || symbol === null) return plain(item);
    return plain({ ...item, symbol: await symbolOf(assetSchema as AssetSchema, { country, symbol }) });
  };
}

/** `GET …/news/list` */
export const answerNewsList: Query<typeof newsList> = async (parameters, context) => {
  const range = instantBounds(parameters.from_date, parameters.to_date);
  const { from_date: first, to_date: last, full_symbol: named } = parameters;
  const days = named === undefined ? null : daysOf(named, first, last);
  const where = await whereOf(context, named, days);
  const answer = await answerPage(context, {
    endpoint: 'newsList',
    parameters,
    understood: { full_symbol: JSON.stringify(where), from_date: range.from, to_date: range.to },
    dataset: news,
    where,
    range: published(context, range),
    order,
    direction: parameters.sort,
    recordOf: writing(context),
  });
  if (named === undefined || days === null || !where.symbol) return answer;
  const shown = await symbolsShown(context)(named.assetSchema, { ...named, symbol: where.symbol });
  return tellingHistory(context, { ...named, days }, shown, answer);
};

/** `GET …/news/latest` */
export const answerLatestNews: Query<typeof latestNews> = async (parameters, context) => {
  const where = await whereOf(context, parameters.full_symbol, null);
  const newestFirst = order.map((column) => [column, 'desc'] as const);
  const { limit } = parameters;
  // An item with a later date is not published yet. As of a moment `nowMs` is that moment.
  const { rows } = await takeRows(
    context,
    { where, range: { to: context.request.nowMs + 1 }, order: newestFirst, limit },
    news,
  );
  const arranged = parameters.sort === 'desc' ? rows : rows.toReversed();
  const recordOf = writing(context);
  const records: WireRecord[] = [];
  for (const item of arranged) records.push(await recordOf(item));
  return renderRecords(context, latestNews, records, parameters.format, null);
};

// News of everything, a market or one instrument: by range (spec 4.4) and the latest (spec 4.5).
import { formatInstant, type ParsedInstant } from '../base/instant.ts';
import type { FullSymbol } from '../contract/identifiers.ts';
import type { latestNews, newsList } from '../contract/news.ts';
import { dayOfBound } from '../market/calendar/bar-range.ts';
import { calendarOf } from '../market/calendar/calendar.ts';
import type { RowOf } from '../store/schema/dataset.ts';
import { news } from '../store/schema/news.ts';
import {
  instrumentOrNull,
  isNobodys,
  shownSymbol,
  tellingHistory,
  unknownSymbol,
} from './known-instrument.ts';
import type { DayRange } from './lookup.ts';
import { answerPage, goodUntilRow, takeRows } from './pages/dataset-page.ts';
import { instantBounds, type Query, type QueryContext } from './query.ts';
import { renderRecords, type WireRecord } from './render/records.ts';

type Item = RowOf<typeof news>;
type Where = Partial<Pick<Item, 'asset_name' | 'country_iso_code' | 'symbol'>>;

/** The order of every list; each filter on instruments has an index with it. */
const order = ['published_date', 'news_id'] as const;

/**
 * The filter on instruments, and the symbol under which the request sees the one that it names. @throws
 * Refusal `unknown_instrument` for a symbol that nothing has
 */
async function filterOf(
  context: QueryContext,
  named: FullSymbol | undefined,
  days: DayRange | null,
): Promise<{ readonly where: Where; readonly shown?: string }> {
  if (named === undefined) return { where: {} };
  const { assetSchema, symbol } = named;
  const market = { asset_name: assetSchema, country_iso_code: named.country };
  if (symbol === '*') return { where: market };
  const found = await instrumentOrNull(context, assetSchema, named, days);
  if (found !== null) {
    const { instrument } = found;
    return { where: { ...market, symbol: instrument.symbol }, shown: shownSymbol(context, instrument) };
  }
  const where = { ...market, symbol };
  const read = { where, order: order.map((column) => [column, 'asc'] as const), limit: 1 };
  const [item] = (await isNobodys(context, assetSchema, named)) ? await context.known.rows(news, read) : [];
  if (item === undefined) throw await unknownSymbol(context, assetSchema, named, 'full_symbol');
  return { where, shown: symbol };
}

/** The market's dates of a range, on which a symbol may have been another instrument's (contract 9.6). */
function daysOf({ assetSchema, country }: FullSymbol, from: ParsedInstant, to: ParsedInstant): DayRange {
  const market = calendarOf(assetSchema, country);
  return { from: dayOfBound(market, from, null), to: dayOfBound(market, to, null) };
}

const recordOf = (item: Item): WireRecord => ({
  ...item,
  published_date: formatInstant(item.published_date),
});

/** Fields of an item that have no history. */
const UNDATED = 'text and sentiment of news';

/** `GET …/news/list` */
const answerNewsList: Query<typeof newsList> = async (parameters, context) => {
  const range = instantBounds(parameters.from_date, parameters.to_date);
  const { from_date: first, to_date: last, full_symbol: named } = parameters;
  const days = named === undefined ? null : daysOf(named, first, last);
  const { where, shown } = await filterOf(context, named, days);
  context.undated.add(UNDATED);
  const answer = await answerPage(context, {
    parameters,
    understood: { full_symbol: JSON.stringify(where), from_date: range.from, to_date: range.to },
    dataset: news,
    where,
    range,
    order,
    direction: parameters.sort,
    recordOf,
  });
  if (named === undefined || days === null || shown === undefined) return answer;
  return tellingHistory(context, { ...named, days }, shown, answer);
};

/** `GET …/news/latest` */
const answerLatestNews: Query<typeof latestNews> = async (parameters, context) => {
  const { where } = await filterOf(context, parameters.full_symbol, null);
  context.undated.add(UNDATED);
  const newestFirst = order.map((column) => [column, 'desc'] as const);
  const { limit } = parameters;
  const { nowMs } = context.request;
  // An item with a later date is not published yet. As of a moment `nowMs` is that moment.
  const { rows } = await takeRows(
    context,
    { where, range: { to: nowMs + 1 }, order: newestFirst, limit },
    news,
  );
  const arranged = parameters.sort === 'desc' ? rows : rows.toReversed();
  const answer = renderRecords(context, arranged.map(recordOf), null);
  const oldestFirst = order.map((column) => [column, 'asc'] as const);
  return goodUntilRow(context, answer, news, { where, range: { from: nowMs + 1 }, order: oldestFirst });
};

/** The queries of these endpoints. */
export const newsQueries = { newsList: answerNewsList, latestNews: answerLatestNews };

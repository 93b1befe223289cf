// News of everything, a market or one instrument: by range (spec 4.4) and the latest (spec 4.5).
import { formatInstant, type ParsedInstant } from '../base/instant.ts';
import { dayOfBound } from '../calendar/bar-range.ts';
import { calendarOf } from '../calendar/calendar.ts';
import type { FullSymbol } from '../contract/identifiers.ts';
import { latestNews, type newsList } from '../contract/news.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { news } from '../datasets/news.ts';
import { answerPage, takeRows } from './dataset-page.ts';
import { type DayRange, unknownInstrument } from './lookup.ts';
import type { Query, QueryContext } from './query.ts';
import { instantBounds } from './range.ts';
import { renderRecords, type WireRecord } from './render/records.ts';
import { tellingHistory } from './symbol-history.ts';

type Item = RowOf<typeof news>;
type Where = Partial<Pick<Item, 'asset_name' | 'country_iso_code' | 'symbol'>>;

/** The order of every list; each filter on instruments has an index with it. */
const order = ['published_date', 'news_id'] as const;

/** The filter on instruments. @throws Refusal `unknown_instrument` for a symbol that nothing has */
async function whereOf(
  { reader, lookup }: QueryContext,
  named: FullSymbol | undefined,
  days: DayRange | null,
): Promise<Where> {
  if (named === undefined) return {};
  const market = { asset_name: named.assetSchema, country_iso_code: named.country };
  if (named.symbol === '*') return market;
  const found = await lookup.instrumentOrNull(reader, named.assetSchema, named, days);
  if (found !== null) return { ...market, symbol: found.instrument.symbol };
  const where = { ...market, symbol: named.symbol };
  const [item] = await reader.rows(news, { where, order: [['published_date', 'asc']], limit: 1 });
  if (item === undefined) throw await unknownInstrument(reader, named.assetSchema, named, 'full_symbol');
  return where;
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
    range,
    order,
    direction: parameters.sort,
    recordOf,
  });
  if (named === undefined || days === null || !where.symbol) return answer;
  return tellingHistory(context, { ...named, days }, where.symbol, answer);
};

/** `GET …/news/latest` */
export const answerLatestNews: Query<typeof latestNews> = async (parameters, context) => {
  const where = await whereOf(context, parameters.full_symbol, null);
  const newestFirst = order.map((column) => [column, 'desc'] as const);
  const { limit } = parameters;
  const { rows } = await takeRows(context, { where, order: newestFirst, limit }, news);
  const arranged = parameters.sort === 'desc' ? rows : rows.toReversed();
  return renderRecords(context, latestNews, arranged.map(recordOf), parameters.format, null);
};

// Coverage: the list of the stored series of an asset type (contract 9.9).
import { DAY_MS, formatInstant } from '../base/instant.ts';
import type { Calendar } from '../calendar/calendar.ts';
import { isPeriod, periodHours } from '../calendar/period.ts';
import { seriesCoverage } from '../contract/coverage.ts';
import type { ParametersOf } from '../contract/endpoint.ts';
import { parseSymbol } from '../contract/identifiers.ts';
import { series as seriesDataset } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { type Instrument, instruments, instrumentTerms } from '../datasets/reference.ts';
import { countRuns } from '../series/run-counts.ts';
import { coarseness } from '../series/series.ts';
import { refuseLost } from '../store/instrument-terms.ts';
import { openWalk } from './page-walk.ts';
import { goodUntilCommit, type Query, type QueryContext, TooDear } from './query.ts';
import { renderRecords, type WireRecord } from './render/records.ts';

/** Instruments read at a time: most have one series or two. */
const INSTRUMENTS_PER_READ = 200;

type Parameters = ParametersOf<typeof seriesCoverage>;
type SeriesRow = RowOf<typeof seriesDataset>;
type NamedSeries = { readonly instrument: Instrument; readonly row: SeriesRow; readonly rank: number };

/** The name of an instrument, in the order of the list. */
type Name = readonly [symbol: string, country: string];

/** A place in the list: behind a series. */
type Position = readonly [...Name, rank: number];

/** The names of instruments in the order of the list, from one on (not included). */
async function namesAfter({ reader }: QueryContext, parameters: Parameters, after: Name | null) {
  const { schema_asset: asset_schema, country_iso_code: country, query = '', sort } = parameters;
  const beginning = query === '' ? '' : parseSymbol(query.trim());
  if (beginning === null) return [];
  const columns =
    country === undefined ? (['term', 'country_iso_code', 'symbol'] as const) : (['term', 'symbol'] as const);
  const rows = await reader.rows(instrumentTerms, {
    where: { asset_schema, kind: 'symbol', ...(country !== undefined && { country_iso_code: country }) },
    ...(after === null && { range: { from: beginning, to: `${beginning}\u{10ffff}` } }),
    order: columns.map((column) => [column, sort] as const),
    ...(after !== null && {
      after: country === undefined ? [after[0], after[1], after[0]] : [after[0], after[0]],
    }),
    limit: INSTRUMENTS_PER_READ,
  });
  // Behind a name the read has no range; the beginning ends it.
  return rows
    .filter(({ term }) => term.startsWith(beginning))
    .map(({ symbol, country_iso_code }): Name => [symbol, country_iso_code]);
}

/** The series of some instruments that have bars, in the order of the list. */
async function seriesOf(
  { reader }: QueryContext,
  { schema_asset: asset_schema, interval, sort }: Parameters,
  names: readonly Name[],
): Promise<NamedSeries[]> {
  const named = new Map<number, Instrument>();
  for (const [country_iso_code, members] of Map.groupBy(names, ([, country]) => country)) {
    const symbols = members.map(([symbol]) => symbol);
    for (const row of await reader.among(instruments, { asset_schema, country_iso_code }, 'symbol', symbols))
      named.set(row.instrument_id, row);
  }
  // An index that lost an instrument, or one of its series, would make the list shorter.
  const known = new Set(
    [...named.values()].map(({ country_iso_code, symbol }) => `${country_iso_code}:${symbol}`),
  );
  for (const [symbol, country_iso_code] of names)
    if (!known.has(`${country_iso_code}:${symbol}`))
      await refuseLost(reader, { asset_schema, country_iso_code, symbol });
  const rows: SeriesRow[] = [];
  for (const instrument_id of named.keys())
    rows.push(...(await reader.group(seriesDataset, { instrument_id })));
  const places = new Map(names.map(([symbol, country], at) => [`${country}:${symbol}`, at]));
  const placeOf = ({ instrument: { country_iso_code, symbol } }: NamedSeries): number =>
    places.get(`${country_iso_code}:${symbol}`)!;
  const direction = sort === 'asc' ? 1 : -1;
  return rows
    .filter((row) => row.bar_count > 0 && (interval === undefined || row.interval === interval))
    .map((row) => ({ instrument: named.get(row.instrument_id)!, row, rank: coarseness(row) }))
    .sort((a, b) => placeOf(a) - placeOf(b) || direction * (a.rank - b.rank));
}

/** Up to `count` series of the list, behind a place. */
async function seriesAfter(
  context: QueryContext,
  parameters: Parameters,
  place: Position | null,
  count: number,
): Promise<NamedSeries[]> {
  const found: NamedSeries[] = [];
  let after: Name | null = null;
  if (place !== null) {
    const [symbol, country, rank] = place;
    after = [symbol, country];
    const direction = parameters.sort === 'asc' ? 1 : -1;
    const own = await seriesOf(context, parameters, [after]);
    found.push(...own.filter((one) => direction * (one.rank - rank) > 0));
  }
  for (let passed = 0; found.length < count; passed += INSTRUMENTS_PER_READ) {
    if (passed > context.lane.baseBarsMax) throw new TooDear();
    const names = await namesAfter(context, parameters, after);
    found.push(...(await seriesOf(context, parameters, names)));
    if (names.length < INSTRUMENTS_PER_READ) break;
    after = names.at(-1)!;
  }
  return found.slice(0, count);
}

/** The open of a bar by its key; of DAY and above by the calendar. */
const openOf = (calendar: Calendar, interval: string, keyMs: number): string =>
  formatInstant(isPeriod(interval) ? periodHours(calendar, interval, keyMs / DAY_MS, false).openMs : keyMs);

/** The number of imports that vouch for each series: read again once an import, a deletion or an undo has changed any. */
async function runCounts({ reader, lookup, lane }: QueryContext): Promise<ReadonlyMap<number, number>> {
  let held = 0;
  const make = () =>
    countRuns(reader, (count) => {
      held += count;
      if (held > lane.baseBarsMax) throw new TooDear();
    });
  return (await lookup.cached(reader, 'runs of series', make)).value;
}

async function recordOf(
  { reader, lookup }: QueryContext,
  { instrument, row }: NamedSeries,
  runs: ReadonlyMap<number, number>,
): Promise<WireRecord> {
  const { interval, series_id, bar_count, first_ms, last_ms, complete_ms, prices } = row;
  const calendar = await lookup.calendars(reader).of(reader, instrument);
  return {
    asset_schema: instrument.asset_schema.toUpperCase(),
    country_iso_code: instrument.country_iso_code,
    symbol: instrument.symbol,
    interval,
    bars: bar_count,
    first_datetime: openOf(calendar, interval, first_ms),
    last_datetime: openOf(calendar, interval, last_ms),
    complete_through: complete_ms === null ? null : formatInstant(complete_ms),
    price_basis: prices,
    runs: runs.get(series_id) ?? 0,
  };
}

/** `GET …/coverage` */
export const answerSeriesCoverage: Query<typeof seriesCoverage> = async (parameters, context) => {
  const { limit, format } = parameters;
  const walk = openWalk(context, 'seriesCoverage', parameters, {});
  const runs = await runCounts(context);
  const place = walk.place === null ? null : (walk.place.position as unknown as Position);
  const found = await seriesAfter(context, parameters, place, limit + 1);
  const page = found.slice(0, limit);
  const records: WireRecord[] = [];
  for (const one of page) records.push(await recordOf(context, one, runs));
  const last = page.at(-1);
  const end =
    found.length <= limit || last === undefined
      ? null
      : { position: [last.instrument.symbol, last.instrument.country_iso_code, last.rank], pinned: [] };
  return goodUntilCommit(renderRecords(context, seriesCoverage, records, format, walk.paging(end)));
};

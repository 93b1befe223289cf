// Coverage: the list of the stored series of an asset type (contract 9.9).
import { DAY_MS, formatInstant } from '../base/instant.ts';
import type { seriesCoverage } from '../contract/coverage.ts';
import type { ParametersOf } from '../contract/endpoint.ts';
import { type AssetSchema, parseSymbol } from '../contract/identifiers.ts';
import { barEnd } from '../market/calendar/bar-end.ts';
import type { Calendar } from '../market/calendar/calendar.ts';
import { isPeriod, periodHours } from '../market/calendar/period.ts';
import { coveredTimes } from '../series/covered-times.ts';
import { servedBlocks } from '../series/cursor.ts';
import { knownSeries, readFinished } from '../series/read-stored.ts';
import { begunRuns, type OwnRuns, SeriesRuns } from '../series/run-spans.ts';
import { coarseness, type Series } from '../series/series.ts';
import { instrumentRows } from '../store/instrument-terms.ts';
import { series as seriesDataset } from '../store/schema/bars.ts';
import { type Instrument, instrumentTerms } from '../store/schema/reference.ts';
import type { Reader } from '../store/store.ts';
import { UNDATED_RUNS } from './findings.ts';
import { instrumentOrNull } from './known-instrument.ts';
import { openWalk } from './pages/page-walk.ts';
import { barsCounted, type Query, type QueryContext, TooDear } from './query.ts';
import { renderRecords, type WireRecord } from './render/records.ts';

/** Instruments read at a time, with their series: most have one series or two. */
const INSTRUMENTS_PER_READ = 200;

type Parameters = ParametersOf<typeof seriesCoverage>;
type NamedSeries = {
  readonly name: Name;
  readonly instrument: Instrument;
  /** The runs that hold it, or have deleted bars of it. */
  readonly own: OwnRuns;
  /** Its finished bars, and as of a moment those which were known; else the same. */
  readonly whole: Series;
  readonly part: Series;
};

/**
 * An instrument in the list: by the symbol that the request sees, which is the present one or one that it had
 * before.
 */
type Name = { readonly shown: string; readonly country: string; readonly symbol: string };

/** A place in the list: behind a series. */
type Position = readonly [shown: string, country: string, rank: number];

const nameKey = ({ shown, country }: Pick<Name, 'shown' | 'country'>): string => `${country}:${shown}`;

/** Behind every symbol. */
const LAST = '\u{10ffff}';

/** Names in the order of the list, from one on (not included), and whether they are the last ones. */
async function namesAfter(
  { known }: QueryContext,
  { schema_asset: asset_schema, country_iso_code: country, query = '', sort }: Parameters,
  after: Name | null,
) {
  const beginning = query === '' ? '' : parseSymbol(query.trim());
  if (beginning === null) return { names: [], isEnd: true };
  const columns =
    country === undefined ? (['term', 'country_iso_code', 'symbol'] as const) : (['term', 'symbol'] as const);
  const behind = sort === 'asc' ? LAST : '';
  const rows = await known.rows(instrumentTerms, {
    where: { asset_schema, kind: 'symbol', ...(country !== undefined && { country_iso_code: country }) },
    ...(after === null && { range: { from: beginning, to: `${beginning}${LAST}` } }),
    order: columns.map((column) => [column, sort] as const),
    ...(after !== null && {
      after: country === undefined ? [after.shown, after.country, behind] : [after.shown, behind],
    }),
    limit: INSTRUMENTS_PER_READ,
  });
  // Behind a name the read has no range; the beginning ends it.
  const names = rows
    .filter(({ term }) => term.startsWith(beginning))
    .map(({ term, symbol, country_iso_code }): Name => ({ shown: term, country: country_iso_code, symbol }));
  return { names, isEnd: names.length < INSTRUMENTS_PER_READ };
}

/** The names of one place: whose symbol it is, or as of a moment was. */
async function namesAt({ known }: QueryContext, asset_schema: string, [shown, country]: Position) {
  const terms = await known.rows(instrumentTerms, {
    where: { asset_schema, country_iso_code: country, kind: 'symbol', term: shown },
    order: [['symbol', 'asc']],
    limit: INSTRUMENTS_PER_READ,
  });
  return terms.map(({ symbol }): Name => ({ shown, country, symbol }));
}

/**
 * The instruments that bear names, in the order of the names. @throws DamagedData for one that an index lost:
 * the list would be shorter
 */
async function bearersOf(context: QueryContext, assetSchema: AssetSchema, names: readonly Name[]) {
  const keys = names.map(({ country, symbol }) => ({
    ...{ asset_schema: assetSchema, country_iso_code: country, symbol },
  }));
  const rows = await instrumentRows(context.reader, keys);
  const bearers = names.flatMap((name, at) => {
    const instrument = rows[at] ?? null;
    return instrument === null ? [] : [{ name, instrument }];
  });
  const found: typeof bearers = [];
  for (const some of Map.groupBy(bearers, ({ name }) => nameKey(name)).values()) {
    // Several instruments had one symbol at once: the list has the one that a request for the symbol finds.
    const { country, shown: symbol } = some[0]!.name;
    const one =
      some.length === 1 ? null : await instrumentOrNull(context, assetSchema, { country, symbol }, null);
    const id = one?.instrument.instrument_id;
    found.push(some.find(({ instrument }) => instrument.instrument_id === id) ?? some[0]!);
  }
  return found;
}

/** Up to `count` series of some names that have finished bars, in the order of the list. */
async function seriesOf(
  context: QueryContext,
  { schema_asset, interval, sort }: Parameters,
  names: readonly Name[],
  count: number,
): Promise<NamedSeries[]> {
  const { reader, lookup, moment } = context;
  const direction = sort === 'asc' ? 1 : -1;
  const found: NamedSeries[] = [];
  const spans = new SeriesRuns(reader);
  const bearers = await bearersOf(context, schema_asset, names);
  const keys = bearers.map(({ instrument }) => ({ instrument_id: instrument.instrument_id }));
  const all = await reader.rowsByKey(seriesDataset, keys);
  for (const [at, { name, instrument }] of bearers.entries()) {
    if (found.length >= count) break;
    const stored = all[at]!.filter(
      (row) => row.bar_count > 0 && (interval === undefined || row.interval === interval),
    ).sort((a, b) => direction * (coarseness(a) - coarseness(b)));
    if (stored.length === 0) continue;
    const calendar = await lookup.calendars(reader).of(reader, instrument);
    const calendars = { calendar, known: calendar.knownAt(moment.ms) };
    await spans.read(stored);
    for (const row of stored) {
      const runs = spans.of(row);
      const own = { runs, files: begunRuns(runs) };
      const whole = await readFinished(reader, calendar, row, own.files);
      if (whole === null) continue;
      const [part] = await knownSeries(reader, calendars, [whole], moment.ms);
      if (part !== undefined) found.push({ name, instrument, own, whole, part });
    }
  }
  return found;
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
    const [shown, country, rank] = place;
    after = { shown, country, symbol: shown };
    const direction = parameters.sort === 'asc' ? 1 : -1;
    const names = await namesAt(context, parameters.schema_asset, place);
    const own = await seriesOf(context, parameters, names, Number.POSITIVE_INFINITY);
    found.push(...own.filter(({ part }) => direction * (coarseness(part) - rank) > 0));
  }
  for (let passed = 0; found.length < count; passed += INSTRUMENTS_PER_READ) {
    if (passed > context.lane.baseBarsMax) throw new TooDear();
    const { names, isEnd } = await namesAfter(context, parameters, after);
    found.push(...(await seriesOf(context, parameters, names, count - found.length)));
    if (isEnd) break;
    after = names.at(-1)!;
  }
  return found.slice(0, count);
}

/** The open of a bar by its key; of DAY and above by the calendar. */
const openOf = (calendar: Calendar, interval: string, keyMs: number): string =>
  formatInstant(isPeriod(interval) ? periodHours(calendar, interval, keyMs / DAY_MS, false).openMs : keyMs);

/**
 * How many live imports hold a series, and through which instant they cover it without a hole from its last
 * bar on, as far as the moment of the request.
 */
function held({ moment }: QueryContext, calendar: Calendar, { own, whole }: NamedSeries) {
  const covered = coveredTimes(calendar, whole, neverEnds, own);
  const throughMs = covered.findLast(
    ({ fromMs }) => fromMs <= barEnd(calendar, whole.interval, whole.last_ms).closeMs,
  )?.toMs;
  const untilMs = throughMs === undefined ? null : Math.min(throughMs, moment.ms);
  return { runs: own.files.length, complete_through: untilMs === null ? null : formatInstant(untilMs) };
}

/** Of an instrument whose dates do not matter. */
const neverEnds = { listing_date: null, status: 'active', endMs: null };

const BLOCKS_PER_READ = 64;

/** Counts the bars of a series up to its known part's last one. `onBars` receives the number of bars read. */
async function countKnown(
  reader: Reader,
  whole: Series,
  part: Series,
  onBars: (count: number) => void,
): Promise<number> {
  const { first_ms: firstMs, last_ms: lastMs, bar_count: all } = whole;
  if (part.last_ms === lastMs) return all;
  const isLate = lastMs - part.last_ms < part.last_ms - firstMs;
  const [fromMs, toMs] = isLate ? [part.last_ms + 1, lastMs + 1] : [firstMs, part.last_ms + 1];
  const blocks = servedBlocks(reader, whole, { fromMs, toMs, descending: false });
  let count = 0;
  for (;;) {
    const bars = await blocks.next(BLOCKS_PER_READ);
    if (bars === null) return isLate ? all - count : count;
    count += bars.count;
    onBars(bars.count);
  }
}

async function recordOf(
  context: QueryContext,
  one: NamedSeries,
  onBars: (count: number) => void,
): Promise<WireRecord> {
  const { reader, lookup } = context;
  const { name, instrument, whole, part } = one;
  const { interval, first_ms, last_ms, prices } = part;
  const calendar = await lookup.calendars(reader).of(reader, instrument);
  const { runs, complete_through } = held(context, calendar, one);
  return {
    asset_schema: instrument.asset_schema.toUpperCase(),
    country_iso_code: instrument.country_iso_code,
    symbol: name.shown,
    interval,
    bars: await countKnown(reader, whole, part, onBars),
    first_datetime: openOf(calendar, interval, first_ms),
    last_datetime: openOf(calendar, interval, last_ms),
    complete_through,
    price_basis: prices,
    runs,
  };
}

/** `GET …/coverage` */
export const answerSeriesCoverage: Query<typeof seriesCoverage> = async (parameters, context) => {
  const { limit } = parameters;
  const walk = openWalk(context, parameters, {});
  const place = walk.place === null ? null : (walk.place.position as unknown as Position);
  const found = await seriesAfter(context, parameters, place, limit + 1);
  const page = found.slice(0, limit);
  const onBars = barsCounted(context);
  const records: WireRecord[] = [];
  for (const one of page) records.push(await recordOf(context, one, onBars));
  context.undated.add(UNDATED_RUNS);
  const last = page.at(-1);
  const end =
    found.length <= limit || last === undefined
      ? null
      : { position: [last.name.shown, last.name.country, coarseness(last.part)], pinned: [] };
  return renderRecords(context, records, walk.paging(end));
};

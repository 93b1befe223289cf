// Layouts before the first one: the last ones of the programs before it are brought along
// (docs/decisions/0021).
import { bucketOf, decodeBlock, wholeBlock } from '../../market/bars/block.ts';
import { encodeBlock } from '../../market/bars/block-writer.ts';
import { emptyBars } from '../../market/bars/columns.ts';
import { dataset, type RowOf, type Values } from '../schema/dataset.ts';
import type { MovedTables, Step } from './step.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const FIRST_MS = Date.UTC(1900, 0, 1);

/** A bar of days, weeks or months has closed within so long of its key. */
const LONG_MS = 34 * DAY_MS;

const [text, integer, instant, boolean, bytes] = ['text', 'integer', 'instant', 'boolean', 'bytes'] as const;
const [maybeText, maybeInteger, maybe, maybeBoolean] = [
  'text null',
  'integer null',
  'instant null',
  'boolean null',
] as const;

const oldSeries = dataset({
  name: 'series',
  columns: {
    ...{ instrument_id: integer, interval: text, series_id: integer, prices: text },
    ...{ volumes: maybeText, first_ms: instant, last_ms: instant, bar_count: integer },
    ...{
      off_grid: boolean,
      complete_ms: maybe,
      complete_run_id: maybeInteger,
    },
  },
  key: ['instrument_id', 'interval'],
});

const oldCoverage = dataset({
  name: 'run_coverage',
  columns: {
    ...{
      run_id: integer,
      market: text,
      interval: text,
      complete_ms: instant,
      series_count: integer,
      series: bytes,
    },
    ...{ last_ms: maybe, last_series_id: maybeInteger, first_ms: maybe },
    ...{ tells_held: maybeBoolean },
  },
  key: ['run_id', 'market', 'interval'],
});

const oldUnfinished = dataset({
  name: 'unfinished_bars',
  columns: { series_id: integer, run_id: integer, first_ms: instant, last_ms: instant },
  key: ['series_id', 'run_id', 'first_ms'],
});

// Tables of the first layout, as they were then.

const importRuns = dataset({
  name: 'import_runs',
  columns: {
    run_id: 'integer',
    kind: 'text',
    dataset: 'text',
    file: 'text',
    sha256: 'text',
    source: 'text null',
    rows_read: 'integer',
    rows_written: 'integer',
    rows_unchanged: 'integer',
    rows_refused: 'integer',
    started_ms: 'instant',
    finished_ms: 'instant',
    undone_ms: 'instant null',
    path: 'text null',
    archive_sha256: 'text null',
    flags: 'json null',
    data_version: 'integer null',
  },
  key: ['run_id'],
  indexes: [['file', 'run_id']],
});

const blockChanges = dataset({
  name: 'block_changes',
  columns: {
    series_id: 'integer',
    bucket: 'integer',
    run_id: 'integer',
    added: 'bytes null',
    before: 'bytes null',
  },
  key: ['series_id', 'bucket', 'run_id'],
  indexes: [['run_id', 'series_id', 'bucket']],
});

const rowChanges = dataset({
  name: 'row_changes',
  columns: { dataset: 'text', row_key: 'text', run_id: 'integer', before: 'json null' },
  key: ['dataset', 'row_key', 'run_id'],
  indexes: [['run_id', 'dataset', 'row_key']],
});

const heldBars = dataset({
  name: 'held_bars',
  columns: { series_id: 'integer', bucket: 'integer', run_id: 'integer', keys: 'bytes' },
  key: ['series_id', 'bucket', 'run_id'],
  indexes: [['run_id', 'series_id', 'bucket']],
});

const heldRows = dataset({
  name: 'held_rows',
  columns: { dataset: 'text', run_id: 'integer', part: 'integer', hashes: 'bytes' },
  key: ['dataset', 'run_id', 'part'],
});

const series = dataset({
  name: 'series',
  columns: {
    instrument_id: 'integer',
    interval: 'text',
    series_id: 'integer',
    prices: 'text',
    volumes: 'text null',
    first_ms: 'instant',
    last_ms: 'instant',
    bar_count: 'integer',
    runs: 'bytes',
  },
  key: ['instrument_id', 'interval'],
  indexes: [['series_id']],
  group: ['instrument_id'],
});

const runSpans = dataset({
  name: 'run_spans',
  columns: {
    run_id: 'integer',
    market: 'text',
    interval: 'text',
    kind: 'text',
    started_ms: 'instant',
    sha256: 'text',
    command: 'integer',
    zone: 'text null',
    first_ms: 'instant null',
    last_keys: 'json',
    from_ms: 'instant null',
    through_ms: 'instant null',
    reach_ms: 'instant',
    series_count: 'integer',
    series: 'bytes',
  },
  key: ['run_id', 'market', 'interval'],
  indexes: [
    ['market', 'interval', 'reach_ms', 'run_id'],
    ['market', 'interval', 'command', 'run_id'],
  ],
  group: ['run_id'],
});

type Run = {
  readonly run_id: number;
  readonly kind: string;
  readonly started_ms: number;
  readonly sha256: string;
  readonly undone_ms: number | null;
};

type Span = Readonly<Record<string, string | number | Uint8Array | readonly number[] | null>>;

/**
 * Ascending numbers as they were written: the difference to the number before, seven bits a byte, the lowest
 * first.
 */
function readIds(list: Uint8Array): number[] {
  const ids: number[] = [];
  let [id, power] = [0, 1];
  for (const byte of list) {
    id += (byte % 128) * power;
    power *= 128;
    if (byte > 0x7f) continue;
    ids.push(id);
    power = 1;
  }
  return ids;
}

/** Ascending numbers as they are written now, each step alone. */
function writeIds(ids: readonly number[]): Uint8Array {
  const list: number[] = [];
  let before = 0;
  for (const id of ids) {
    let rest = 2 * (id - before);
    before = id;
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) list.push((rest % 128) + 128);
    list.push(rest);
  }
  return Uint8Array.from(list);
}

const minutesOf = (interval: string): number | null =>
  /^\d+M$/.test(interval) ? Number.parseInt(interval, 10) * MINUTE_MS : null;

/** How long after its key a bar has closed at the latest. */
const stepOf = (interval: string): number => minutesOf(interval) ?? LONG_MS;

/** How far from each other the keys of two bars are at least. */
const keyStepOf = (interval: string): number => minutesOf(interval) ?? DAY_MS;

/** The end of what a bar holds, as a key. */
function endOf(interval: string, keyMs: number): number {
  if (interval === 'WEEK') return keyMs + 7 * DAY_MS;
  if (interval !== 'MON') return keyMs + keyStepOf(interval);
  const day = new Date(keyMs);
  return Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 1);
}

type Coverage = RowOf<typeof oldCoverage>;

/**
 * Keys of bars of a series that were not finished when a run brought them, neighbours of one block; both ends
 * are bars.
 */
type Unfinished = RowOf<typeof oldUnfinished>;

/**
 * The keys of the last bars of a run: one so early that it had closed, whatever the calendar, then those of
 * bars that had not, or of the last bar. Where nothing tells of bars, there are none.
 */
function lastKeysOf(
  { interval, last_ms, first_ms }: Coverage,
  startedMs: number,
  unfinished: readonly Unfinished[],
): number[] {
  const stepMs = stepOf(interval);
  const late = unfinished.flatMap((span) => [span.first_ms, span.last_ms]).sort((a, b) => a - b);
  const lastMs = last_ms ?? first_ms;
  const early =
    lastMs === null
      ? []
      : [Math.min(lastMs, startedMs - stepMs, (late[0] ?? Number.POSITIVE_INFINITY) - stepMs)];
  const last = last_ms === null || late.length > 0 ? [] : [last_ms];
  return [...new Set([...early, ...late, ...last])];
}

/**
 * What a run held of one market at one interval. Its first and last bar tell what it covers; where they are
 * not known, or one had not closed, it covers what it did.
 */
function importSpan(
  coverage: Coverage,
  run: Run,
  ids: readonly number[],
  unfinished: readonly Unfinished[],
): Span {
  const { run_id, market, interval, complete_ms, first_ms, last_ms } = coverage;
  const isTold = first_ms !== null && last_ms !== null && unfinished.length === 0;
  const last_keys = lastKeysOf(coverage, run.started_ms, unfinished);
  const through_ms = isTold ? null : complete_ms;
  return {
    ...{ run_id, market, interval, kind: 'import', started_ms: run.started_ms, sha256: run.sha256 },
    ...{ command: run_id, zone: null, first_ms, last_keys },
    ...{ from_ms: first_ms === null ? FIRST_MS : null, through_ms },
    reach_ms: Math.max(through_ms ?? Number.NEGATIVE_INFINITY, ...last_keys),
    ...{ series_count: ids.length, series: writeIds(ids) },
  };
}

/**
 * The ranges of keys that a deletion took out of series, each from its first deleted bar to the end of its
 * last.
 */
async function deletedRanges(
  stored: MovedTables,
  run_id: number,
  series: Old['series'],
): Promise<ReadonlyMap<number, { from_ms: number; through_ms: number }>> {
  const ranges = new Map<number, { from_ms: number; through_ms: number }>();
  for (const entry of await stored.rows(blockChanges, { run_id })) {
    const id = entry.series_id as number;
    const row = series.get(id);
    if (entry.before === null || row === undefined) continue;
    const { keyMs, count } = decodeBlock(entry.before as Uint8Array, wholeBlock);
    const through_ms = endOf(row.interval, keyMs[count - 1]!);
    const known = ranges.get(id);
    // Blocks of a series ascend.
    if (known === undefined) ranges.set(id, { from_ms: keyMs[0]!, through_ms });
    else known.through_ms = through_ms;
  }
  return ranges;
}

/** A change of a span of bars that were not finished. */
type Noted = { readonly changer: number; readonly before: Unfinished };

/** Where a run held bars that were stored: the keys of a block. */
type Held = {
  readonly series_id: number;
  readonly bucket: number;
  readonly run_id: number;
  readonly keys: number[];
};

/**
 * The bars that imports finished, by the last one that did: runs of layout 12 did not record what they held
 * unchanged. Keys between that no bar has make no difference. A bar that is not finished yet, none did.
 */
function heldOf({ runs, series, coverage, unfinished, noted }: Old): Held[] {
  const telling = new Set(coverage.filter((row) => row.tells_held).map((row) => row.run_id));
  const intervalOf = (id: number): string => series.get(id)!.interval;
  const placesOf = ({ series_id, run_id, first_ms, last_ms }: Unfinished): [string, number][] => {
    const stepMs = keyStepOf(intervalOf(series_id));
    const count = Math.round((last_ms - first_ms) / stepMs) + 1;
    return Array.from({ length: count }, (_, at) => {
      const keyMs = first_ms + at * stepMs;
      return [`${run_id} ${series_id} ${keyMs}`, keyMs];
    });
  };
  const last = new Map<
    string,
    { readonly changer: number; readonly series_id: number; readonly keyMs: number }
  >();
  for (const { changer, before } of noted.toSorted((a, b) => a.changer - b.changer))
    for (const [place, keyMs] of placesOf(before))
      last.set(place, { changer, series_id: before.series_id, keyMs });
  for (const span of unfinished) for (const [place] of placesOf(span)) last.delete(place);
  const found = new Map<string, Held>();
  for (const { changer: run_id, series_id, keyMs } of last.values()) {
    if (runs.get(run_id)?.kind !== 'import' || telling.has(run_id)) continue;
    const bucket = bucketOf(intervalOf(series_id) as Parameters<typeof bucketOf>[0], keyMs);
    const place = `${series_id} ${bucket} ${run_id}`;
    const known = found.get(place) ?? { series_id, bucket, run_id, keys: [] };
    known.keys.push(keyMs);
    found.set(place, known);
  }
  return [...found.values()];
}

/** A block of bars without their values. */
function blankBlock(keys: readonly number[]): Uint8Array {
  const ascending = [...new Set(keys)].sort((a, b) => a - b);
  const bars = { ...emptyBars(ascending.length), count: ascending.length };
  bars.keyMs.set(ascending);
  for (const column of [bars.volume, bars.vwap]) column.fill(Number.NaN);
  return encodeBlock(bars);
}

/** What the tables have of runs. `entries` are the journal of bars that were not finished. */
type Old = {
  readonly runs: ReadonlyMap<number, Run>;
  readonly series: ReadonlyMap<number, RowOf<typeof oldSeries>>;
  readonly coverage: readonly Coverage[];
  readonly unfinished: readonly Unfinished[];
  readonly entries: readonly Values[];
  readonly noted: readonly Noted[];
};

async function readOld(stored: MovedTables): Promise<Old> {
  const runs = (await stored.rows(importRuns)) as readonly Run[];
  const series = (await stored.rows(oldSeries)) as readonly RowOf<typeof oldSeries>[];
  const unfinished = (await stored.rows(oldUnfinished)) as readonly Unfinished[];
  const entries = await stored.rows(rowChanges, { dataset: oldUnfinished.name });
  const noted = entries.flatMap((entry) =>
    entry.before === null ? [] : [{ changer: entry.run_id as number, before: entry.before as Unfinished }],
  );
  const known = new Map(series.map((row) => [row.series_id, row]));
  const isKnown = ({ series_id }: Unfinished): boolean => known.has(series_id);
  return {
    runs: new Map(runs.map((row) => [row.run_id, row])),
    series: known,
    coverage: (await stored.rows(oldCoverage)) as readonly Coverage[],
    unfinished: unfinished.filter(isKnown),
    entries,
    noted: noted.filter((one) => isKnown(one.before)),
  };
}

/** What a run held, or has deleted, and of which series. */
type Found = { readonly span: Span; readonly run_id: number; readonly ids: readonly number[] };

function importSpans({ runs, coverage, unfinished, noted }: Old): Found[] {
  const late = Map.groupBy(
    [...unfinished, ...noted.map((one) => one.before)],
    ({ run_id, series_id }) => `${run_id} ${series_id}`,
  );
  return coverage.flatMap((row) => {
    const { run_id } = row;
    const run = runs.get(run_id);
    if (run === undefined) return [];
    const ids = readIds(row.series);
    const lateOfRun = ids.flatMap((id) => late.get(`${run_id} ${id}`) ?? []);
    return [{ span: importSpan(row, run, ids, lateOfRun), run_id, ids }];
  });
}

async function deletionSpans(stored: MovedTables, { runs, series, coverage }: Old): Promise<Found[]> {
  const markets = new Map(coverage.flatMap((row) => readIds(row.series).map((id) => [id, row.market])));
  const found: Found[] = [];
  for (const { run_id, kind, started_ms, undone_ms } of runs.values()) {
    if (kind !== 'delete' || undone_ms !== null) continue;
    for (const [id, range] of await deletedRanges(stored, run_id, series)) {
      const market = markets.get(id);
      // No run covers it.
      if (market === undefined) continue;
      const span = {
        ...{ run_id, market, interval: series.get(id)!.interval, kind, started_ms, sha256: '' },
        ...{ command: run_id, zone: null, first_ms: null, last_keys: [], ...range },
        ...{ reach_ms: range.through_ms, series_count: 1, series: writeIds([id]) },
      };
      found.push({ span, run_id, ids: [id] });
    }
  }
  return found;
}

async function moveFacts(stored: MovedTables): Promise<() => Promise<void>> {
  const old = await readOld(stored);
  const found = [...importSpans(old), ...(await deletionSpans(stored, old))];
  const held = heldOf(old);
  return async () => {
    const runs = new Map<number, Set<number>>();
    for (const { run_id, ids } of found)
      for (const id of ids) {
        const known = runs.get(id);
        if (known === undefined) runs.set(id, new Set([run_id]));
        else known.add(run_id);
      }
    const runsOf = (id: number): number[] => [...(runs.get(id) ?? [])].sort((a, b) => a - b);
    await stored.put(
      runSpans,
      found.map(({ span }) => span),
    );
    await stored.put(
      series,
      [...old.series.values()].map((row) => ({ ...row, runs: writeIds(runsOf(row.series_id)) })),
    );
    await stored.put(
      heldBars,
      held.map(({ keys, ...place }) => ({ ...place, keys: blankBlock(keys) })),
    );
    await stored.remove(rowChanges, old.entries);
  };
}

/**
 * From layout 12: runs record the bars and rows that they held unchanged, so that an undo of an earlier run
 * leaves these to them; calendar days of files may have the date of their announcement.
 */
const held: Step = {
  columns: { run_coverage: { tells_held: 'boolean null' }, holidays: { announced: 'day null' } },
  tables: [heldBars, heldRows],
};

/**
 * From layout 13: runs are kept as facts, and what follows from them and from calendars is computed when it
 * is read (contract 3.9).
 */
const facts: Step = {
  moves: moveFacts,
  drops: [oldSeries.name, oldCoverage.name, oldUnfinished.name],
  tables: [series, runSpans],
};

/** Stores of layouts before the first one. */
export const storesBefore: ReadonlyMap<number, readonly Step[]> = new Map([
  [12, [held, facts]],
  [13, [facts]],
]);

/** Control files of layouts before the first one: this has the same tables. */
export const controlsBefore: ReadonlyMap<number, readonly Step[]> = new Map([[6, []]]);

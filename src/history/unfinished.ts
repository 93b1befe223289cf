// Which bars of a series were not finished when the last run that holds them began (contract 3.9).
import { type Bars, indexOfKey, sameBar } from '../bars/columns.ts';
import { firstWhere } from '../base/search.ts';
import { unfinishedBars } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { rowKeyOf } from '../store/journal-entries.ts';
import type { Writer } from '../store/store.ts';

/** A row of unfinished bars. */
export type Span = RowOf<typeof unfinishedBars>;

/** Spans by their row's key. They do not overlap. */
export type Spans = ReadonlyMap<string, Span>;

/** Some spans of a series by their row's key. */
export const keyed = (spans: readonly Span[]): Spans =>
  new Map(spans.map((span) => [rowKeyOf(unfinishedBars, span), span]));

/** The run by which a bar is unfinished; undefined where it is not. */
export const listedRun = (spans: Spans, key: number): number | undefined =>
  spans.values().find(({ first_ms, last_ms }) => first_ms <= key && key <= last_ms)?.run_id;

/** What the unfinished bars of a series are found by, while a run loads bars of it. */
export type UnfinishedRules = {
  bucketOf(keyMs: number): number;
  /** Whether a bar closes after the start of the run. */
  closesLater(keyMs: number): boolean;
};

/** Of series without unfinished bars, which nearly all are. */
const noRows: ReadonlyMap<number, Span[]> = new Map();

/** The keys of bars. */
export const keysOf = ({ count, keyMs }: Bars): number[] => [...keyMs.subarray(0, count)];

/** The rows of a block's unfinished bars: `runOf` gives the run by which the bar of an index is unfinished, undefined where it is not. */
export function spansOf(
  series_id: number,
  keys: readonly number[],
  runOf: (at: number) => number | undefined,
): Span[] {
  const rows: Span[] = [];
  for (let from = 0, to = 0; from < keys.length; from = to) {
    const run_id = runOf(from);
    do to++;
    while (to < keys.length && runOf(to) === run_id);
    if (run_id !== undefined) rows.push({ series_id, run_id, first_ms: keys[from]!, last_ms: keys[to - 1]! });
  }
  return rows;
}

/** The unfinished bars of one series, while a run loads bars of it. */
export class Unfinished {
  /** The series' rows before the run, by bucket. */
  readonly #stored: ReadonlyMap<number, readonly Span[]>;
  readonly #runId: number;
  readonly #rules: UnfinishedRules;
  /** The rows of each bucket that the run has touched; null where it has none yet. */
  #fresh: Map<number, Span[]> | null = null;

  /** `stored` are the series' rows before the run. */
  constructor(stored: readonly Span[], runId: number, rules: UnfinishedRules) {
    this.#stored =
      stored.length === 0 ? noRows : Map.groupBy(stored, ({ first_ms }) => rules.bucketOf(first_ms));
    this.#runId = runId;
    this.#rules = rules;
  }

  /** How many of some bars close after the start of the run. */
  countIn({ count, keyMs }: Bars): number {
    const rules = this.#rules;
    if (count === 0 || !rules.closesLater(keyMs[count - 1]!)) return 0;
    // Closes ascend with keys.
    return count - firstWhere(count, (bar) => rules.closesLater(keyMs[bar]!));
  }

  /**
   * Looks at one block: `held` are all bars of it that the run holds or deletes, `merged` all that are stored after it, `older` those
   * before it, null where there were none. A finished bar that the run holds unchanged stays finished, whatever its clock says.
   */
  see(seriesId: number, held: Bars, merged: Bars, older: Bars | null = null): void {
    const bucket = this.#rules.bucketOf(held.keyMs[0]!);
    const stored = this.#stored.get(bucket) ?? [];
    if (stored.length === 0 && this.countIn(held) === 0) {
      this.#fresh?.delete(bucket);
      return;
    }
    // The run may have written the block before: then its own rows are the state.
    const known = keyed(this.#fresh?.get(bucket) ?? stored);
    const knownRunOf = (key: number): number | undefined => listedRun(known, key);
    const isUnchanged = (key: number, at: number): boolean => {
      const before = older === null ? -1 : indexOfKey(older, key);
      return before >= 0 && sameBar(older!, before, held, at);
    };
    const runOf = (key: number): number | undefined => {
      const at = indexOfKey(held, key);
      if (at < 0) return knownRunOf(key);
      if (!this.#rules.closesLater(key)) return undefined;
      return knownRunOf(key) === undefined && isUnchanged(key, at) ? undefined : this.#runId;
    };
    const keys = keysOf(merged);
    const rows = spansOf(seriesId, keys, (at) => runOf(keys[at]!));
    this.#freshen(bucket, rows);
  }

  /** Forgets the bars of a block that is removed unread. */
  drop(bucket: number): void {
    if (this.#stored.has(bucket)) this.#freshen(bucket, []);
  }

  #freshen(bucket: number, rows: Span[]): void {
    this.#fresh ??= new Map();
    this.#fresh.set(bucket, rows);
  }

  /** Writes what the run changes. */
  async settle(writer: Writer): Promise<void> {
    for (const [bucket, rows] of this.#fresh ?? []) {
      const [before, after] = [keyed(this.#stored.get(bucket) ?? []), keyed(rows)];
      for (const key of new Set([...before.keys(), ...after.keys()])) {
        const [was = null, is = null] = [before.get(key), after.get(key)];
        if (was?.last_ms === is?.last_ms) continue;
        if (is !== null) await writer.upsert(unfinishedBars, [is]);
        else if (was !== null) await writer.remove(unfinishedBars, [was]);
      }
    }
  }
}

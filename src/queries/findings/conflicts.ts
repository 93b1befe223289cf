// conflicting_imports: bars to which two imports gave different values, by what each noted before its changes
// (docs/decisions/0009).

import { DAY_MS } from '../../base/instant.ts';
import { type Bars, valueColumns } from '../../market/bars/columns.ts';
import { barEnd, closesAfter } from '../../market/calendar/bar-end.ts';
import { isPeriod, periodHours } from '../../market/calendar/period.ts';
import { changesBar } from '../../series/brought.ts';
import { blockAt } from '../../store/all-blocks.ts';
import { allRows, rowWith } from '../../store/all-rows.ts';
import { decodeChange } from '../../store/journal-entries.ts';
import type { RowOf } from '../../store/schema/dataset.ts';
import { blockChanges, importRuns } from '../../store/schema/internal.ts';
import type { Reader } from '../../store/store.ts';
import { countOf, type Finding, percent } from './finding.ts';
import type { Subject } from './market-facts.ts';
import { thresholds } from './thresholds.ts';

type Run = RowOf<typeof importRuns>;
type Note = RowOf<typeof blockChanges>;

/** The bars that one run replaced of another. */
type Conflict = {
  readonly former: Run;
  readonly later: Run;
  count: number;
  firstKeyMs: number;
  lastKeyMs: number;
  /** The largest difference of a price, and of all values, as a share of the former value. */
  priceShare: number;
  share: number;
  value: number;
  expected: number;
};

/**
 * The value that differs most between two bars; where one of them has no number, the share is 0. `priceShare`
 * leaves out volumes.
 */
function largestDifference(older: Bars, at: number, newer: Bars, index: number) {
  let largest = { share: -1, value: Number.NaN, expected: Number.NaN };
  let priceShare = 0;
  for (const column of valueColumns) {
    const [expected, value] = [older[column][at]!, newer[column][index]!];
    const share = expected === value ? -1 : Math.abs(value / expected - 1) || 0;
    if (!Number.isFinite(share)) continue;
    if (share > largest.share) largest = { share, value, expected };
    if (column !== 'volume') priceShare = Math.max(priceShare, share);
  }
  return { ...largest, priceShare };
}

/** The findings of one series. */
class Conflicts {
  readonly #reader: Reader;
  readonly #subject: Subject;
  readonly #throughMs: number;
  readonly #runs = new Map<number, Run | null>();
  readonly #found = new Map<string, Conflict>();

  constructor(reader: Reader, subject: Subject, throughMs: number) {
    this.#reader = reader;
    this.#subject = subject;
    this.#throughMs = throughMs;
  }

  /** Takes the notes about one block, in the order of their runs. */
  async add(notes: readonly Note[]): Promise<void> {
    if (notes.every(({ before }) => before === null)) return;
    const changes = notes.map((note) => ({ runId: note.run_id, ...decodeChange(note) }));
    const { series_id } = this.#subject.series;
    const block = await blockAt(this.#reader, series_id, notes[0]!.bucket);
    /** Where the state after each run is, by key. */
    const after = new Map<number, { readonly bars: Bars; readonly at: number }>();
    const put = (bars: Bars): void => {
      for (let at = 0; at < bars.count; at++) after.set(bars.keyMs[at]!, { bars, at });
    };
    if (block !== null) put(block.bars);
    for (const [index, { before, added, runId }] of [...changes.entries()].reverse()) {
      for (let at = 0; at < before.count; at++) {
        const keyMs = before.keyMs[at]!;
        const now = after.get(keyMs);
        const former = changes.slice(0, index).findLast((change) => changesBar(change, keyMs));
        // A bar that a deletion removed has no other value.
        if (now !== undefined && former !== undefined)
          await this.#compare({
            keyMs,
            formerId: former.runId,
            laterId: runId,
            older: before,
            at,
            newer: now.bars,
            index: now.at,
          });
      }
      put(before);
      for (let at = 0; at < (added?.count ?? 0); at++) after.delete(added!.keyMs[at]!);
    }
  }

  async #compare(pair: {
    readonly keyMs: number;
    readonly formerId: number;
    readonly laterId: number;
    readonly older: Bars;
    readonly at: number;
    readonly newer: Bars;
    readonly index: number;
  }): Promise<void> {
    const { keyMs, formerId, laterId, older, at, newer, index } = pair;
    const { stored, series } = this.#subject;
    const { interval, isOffGrid } = series;
    if (closesAfter(stored.calendar, { interval, isOffGrid }, keyMs, this.#throughMs)) return;
    const [former, later] = [await this.#run(formerId), await this.#run(laterId)];
    if (former === null || later === null) return;
    // The former had the beginning of the bar alone.
    if (barEnd(stored.calendar, interval, keyMs).closeMs > former.started_ms) return;
    const { priceShare, ...difference } = largestDifference(older, at, newer, index);
    const name = `${formerId} ${laterId}`;
    const known = this.#found.get(name);
    if (known === undefined) {
      const range = { firstKeyMs: keyMs, lastKeyMs: keyMs };
      this.#found.set(name, { former, later, count: 1, ...range, priceShare, ...difference });
      return;
    }
    known.count++;
    known.firstKeyMs = Math.min(known.firstKeyMs, keyMs);
    known.lastKeyMs = Math.max(known.lastKeyMs, keyMs);
    known.priceShare = Math.max(known.priceShare, priceShare);
    if (difference.share > known.share) Object.assign(known, difference);
  }

  async #run(run_id: number): Promise<Run | null> {
    const known = this.#runs.get(run_id);
    if (known !== undefined) return known;
    const run = await rowWith(this.#reader, importRuns, { run_id });
    this.#runs.set(run_id, run);
    return run;
  }

  findings(): Finding[] {
    const { calendar } = this.#subject.stored;
    const { interval } = this.#subject.series;
    return [...this.#found.values()].map(
      ({ former, later, count, firstKeyMs, lastKeyMs, priceShare, share, value, expected }) => ({
        ...({ kind: 'conflicting_imports', interval } as const),
        severity: priceShare > thresholds.otherCompanyShare ? 'error' : 'info',
        fromMs: isPeriod(interval)
          ? periodHours(calendar, interval, firstKeyMs / DAY_MS, false).openMs
          : firstKeyMs,
        toMs: barEnd(calendar, interval, lastKeyMs).closeMs,
        value: Number.isNaN(value) ? null : value,
        expected: Number.isNaN(expected) ? null : expected,
        message:
          `${countOf(count, 'bar')} of run ${later.run_id} (${later.file}) ${count === 1 ? 'has' : 'have'} other values than run ${former.run_id} (${former.file}) gave, ` +
          (share >= 0 ? `by at most ${percent(share)}` : 'and one of them is not a number'),
        runId: later.run_id,
      }),
    );
  }
}

/**
 * The bars of a series that imports replaced by others, of those that close by an instant: a finding for each
 * two imports. A bar that had not closed yet at the first was not whole, and does not count.
 */
export async function conflictingImports(
  reader: Reader,
  subject: Subject,
  throughMs: number,
): Promise<Finding[]> {
  const conflicts = new Conflicts(reader, subject, throughMs);
  let notes: Note[] = [];
  for await (const note of allRows(reader, blockChanges, { series_id: subject.series.series_id })) {
    if (notes.length > 0 && notes[0]!.bucket !== note.bucket) {
      await conflicts.add(notes);
      notes = [];
    }
    notes.push(note);
  }
  if (notes.length > 0) await conflicts.add(notes);
  return conflicts.findings();
}

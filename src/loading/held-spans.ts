// What an import holds of each market and interval, as it is recorded, and the times that it leaves open (contract 3.9).

import type { Bars } from '../bars/columns.ts';
import { encodeIds } from '../base/id-list.ts';
import { formatInstantZ } from '../base/instant.ts';
import { hasClosed } from '../calendar/bar-end.ts';
import type { Calendar } from '../calendar/calendar.ts';
import type { Interval } from '../contract/interval.ts';
import type { runSpans } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import type { OpenTime } from '../history/import-report.ts';
import type { PresentRun } from '../history/run.ts';
import { coveredTimes } from '../series/covered-times.ts';
import { fileSpan, sessionEnd } from '../series/file-span.ts';
import { begunRuns, type RunSpan, runsOf } from '../series/run-spans.ts';
import type { Span } from '../series/spans.ts';
import type { Writer } from '../store/store.ts';
import type { OpenSeries } from './open-series.ts';

/** Series of one market whose earlier bars are looked at for the times before the file. */
const LOOKED_MAX = 20;

/** The bars of a market and interval so far. */
type Held = {
  firstMs: number;
  lastMs: number;
  /** The last that had closed for certain when the import began. */
  closedMs: number;
  /** Those after it that may have. */
  readonly maybe: Set<number>;
};

type About = {
  readonly completeFromMs: number | null;
  readonly completeThroughMs: number | null;
  readonly zone: string | null;
};

const groupOf = ({ market, interval }: OpenSeries): string => `${market} ${interval}`;

/** Collects the bars of one import by market and interval. */
export class HeldSpans {
  readonly #writer: Writer;
  readonly #run: PresentRun;
  readonly #about: About;
  readonly #held = new Map<string, Held>();

  constructor(writer: Writer, run: PresentRun, about: About) {
    this.#writer = writer;
    this.#run = run;
    this.#about = about;
  }

  /** Adds bars of a series. */
  see(series: OpenSeries, { count, keyMs }: Bars): void {
    const name = groupOf(series);
    let held = this.#held.get(name);
    if (held === undefined) {
      held = { firstMs: keyMs[0]!, lastMs: keyMs[0]!, closedMs: Number.NEGATIVE_INFINITY, maybe: new Set() };
      this.#held.set(name, held);
    }
    held.firstMs = Math.min(held.firstMs, keyMs[0]!);
    held.lastMs = Math.max(held.lastMs, keyMs[count - 1]!);
    for (let at = count - 1; at >= 0; at--) {
      const closed = hasClosed(series.interval, keyMs[at]!, this.#run.startedMs);
      if (closed === 'maybe') held.maybe.add(keyMs[at]!);
      if (closed !== 'yes') continue;
      held.closedMs = Math.max(held.closedMs, keyMs[at]!);
      break;
    }
  }

  /** The rows of the run about the series that it holds. */
  rows(series: readonly OpenSeries[], sha256: string): RowOf<typeof runSpans>[] {
    const { runId: run_id, startedMs: started_ms, command } = this.#run;
    const { completeFromMs: from_ms, completeThroughMs, zone } = this.#about;
    return [...Map.groupBy(series, groupOf)].map(([name, some]) => {
      const { market, interval } = some[0]!;
      const held = this.#held.get(name) ?? null;
      const { lastMs = null } = held ?? {};
      return {
        ...{ run_id, market, interval, kind: 'import', started_ms, sha256, command, zone },
        first_ms: held?.firstMs ?? null,
        last_keys: held === null ? [] : lastKeysOf(held),
        from_ms,
        through_ms: completeThroughMs,
        reach_ms: Math.max(lastMs ?? Number.NEGATIVE_INFINITY, completeThroughMs ?? Number.NEGATIVE_INFINITY),
        series_count: some.length,
        series: encodeIds(some.map(({ seriesId }) => seriesId)),
      };
    });
  }

  /** The times around the bars of the run that it, and the runs before it, leave open. */
  async openTimes(series: readonly OpenSeries[], sha256: string): Promise<OpenTime[]> {
    const found: OpenTime[] = [];
    for (const row of this.rows(series, sha256)) {
      const run: RunSpan = { ...row, interval: row.interval as Interval };
      const some = series.filter((one) => one.market === run.market && one.interval === run.interval);
      const before = new Map<string, OpenTime>();
      const after = new Map<string, OpenTime>();
      const add = (to: Map<string, OpenTime>, fromMs: number, toMs: number): void => {
        const [from, through] = [fromMs, toMs].map(formatInstantZ) as [string, string];
        const { market, interval } = run;
        to.set(`${from} ${through}`, { market, interval, from, through, isBefore: to === before });
      };
      const calendars = new Set<Calendar>();
      for (const { calendar } of some) {
        if (calendars.has(calendar)) continue;
        calendars.add(calendar);
        const [begun] = begunRuns([run]);
        const span = fileSpan(begun!, calendar);
        const endMs = sessionEnd(begun!, calendar);
        if (span !== null && endMs !== null && span.toMs < endMs) add(after, span.toMs, endMs);
      }
      const grown = some.filter(
        ({ lastBeforeMs, firstMs }) => lastBeforeMs !== null && lastBeforeMs < firstMs,
      );
      // Most have the same runs.
      const known = new Map<string, readonly Span[]>();
      for (const { row: stored, calendar, lastBeforeMs, firstMs } of grown.slice(0, LOOKED_MAX)) {
        const name = `${[...calendars].indexOf(calendar)} ${stored.last_ms} ${Buffer.from(stored.runs).toString('base64')}`;
        let covered = known.get(name);
        if (covered === undefined) {
          const runs = [...(await runsOf(this.#writer, stored)), run];
          const of = { interval: run.interval, last_ms: stored.last_ms };
          covered = coveredTimes(calendar, of, untold, { runs, files: begunRuns(runs) });
          known.set(name, covered);
        }
        const at = covered.findLastIndex(({ fromMs }) => fromMs <= firstMs);
        const [last, next] = [covered[at - 1], covered[at]];
        if (last !== undefined && next !== undefined && last.toMs > lastBeforeMs!)
          add(before, last.toMs, next.fromMs);
      }
      found.push(...before.values(), ...after.values());
    }
    return found;
  }
}

/** An instrument of whose dates nothing is known. */
const untold = { listing_date: null, status: 'active', endMs: null };

/** The keys that a row has of the last bars. */
function lastKeysOf({ closedMs, maybe, lastMs }: Held): number[] {
  const closed = closedMs === Number.NEGATIVE_INFINITY ? [] : [closedMs];
  // A series of its own may have closed bars after one of another that may not have.
  const open = [...maybe].filter((key) => key > closedMs).sort((a, b) => a - b);
  const known = [...closed, ...open];
  return known.at(-1) === lastMs ? known : [...known, lastMs];
}

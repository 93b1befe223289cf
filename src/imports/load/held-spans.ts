// What an import holds of each market and interval, as it is recorded, and the times that it leaves open
// (contract 3.9).
import { encodeIds } from '../../base/ascending.ts';
import { formatInstantZ } from '../../base/instant.ts';
import type { Interval } from '../../contract/interval.ts';
import type { Bars } from '../../market/bars/columns.ts';
import { hasClosed } from '../../market/calendar/bar-end.ts';
import type { Calendar } from '../../market/calendar/calendar.ts';
import { coveredTimes } from '../../series/covered-times.ts';
import { begunRuns, type RunSpan, runsOf, sessionEnd } from '../../series/run-spans.ts';
import { lacking, type Span } from '../../series/series.ts';
import { DamagedData } from '../../store/damage.ts';
import type { runSpans } from '../../store/schema/bars.ts';
import type { RowOf } from '../../store/schema/dataset.ts';
import type { OpenSeries } from './open-series.ts';
import type { OpenTime, PresentRun } from './run.ts';

/** Series of one market and interval with other runs each that are looked at for open times. */
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

const groupOf = ({ market, interval }: OpenSeries): string => `${market} ${interval}`;

/** Collects the bars of one import by market and interval. */
export class HeldSpans {
  readonly #run: PresentRun;
  readonly #held = new Map<string, Held>();

  constructor(run: PresentRun) {
    this.#run = run;
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
    const { runId: run_id, startedMs: started_ms, command, request } = this.#run;
    const { completeFromMs: from_ms = null, completeThroughMs = null, zone } = request;
    return [...Map.groupBy(series, groupOf)].map(([name, some]) => {
      const { market, interval } = some[0]!;
      const held = this.#held.get(name) ?? null;
      const { lastMs = null } = held ?? {};
      return {
        ...{ run_id, market, interval, kind: 'import' as const, started_ms },
        ...{ sha256, command, zone: zone?.name ?? null },
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
    const found = new Map<string, OpenTime>();
    for (const row of this.rows(series, sha256)) {
      const run: RunSpan = { ...row, interval: row.interval as Interval };
      const { market, interval } = run;
      const add = (isBefore: boolean, fromMs: number, toMs: number): void => {
        const [from, through] = [fromMs, toMs].map(formatInstantZ) as [string, string];
        found.set(JSON.stringify([market, interval, isBefore, from, through]), {
          ...{ market, interval, from, through, isBefore },
        });
      };
      // Most have the same runs.
      const known = new Map<string, readonly Span[]>();
      const some = series.filter((one) => one.market === market && one.interval === interval);
      const calendars = [...new Set(some.map(({ calendar }) => calendar))];
      for (const { row: stored, calendar, lastBeforeMs, firstMs } of some) {
        const { runs, last_ms } = stored;
        const name = `${calendars.indexOf(calendar)} ${last_ms} ${Buffer.from(runs).toString('base64')}`;
        if (!known.has(name) && known.size >= LOOKED_MAX) continue;
        const covered = known.get(name) ?? (await this.#coveredWith(run, stored, calendar));
        known.set(name, covered);
        const at = covered.findIndex(({ fromMs, toMs }) => fromMs <= firstMs && firstMs < toMs);
        if (at === -1) continue;
        const [last, own] = [covered[at - 1], covered[at]!];
        if (last !== undefined && lastBeforeMs !== null && lastBeforeMs < firstMs && last.toMs > lastBeforeMs)
          add(true, last.toMs, own.fromMs);
        const endMs = sessionEnd(begunRuns([run])[0]!, calendar);
        if (endMs !== null && own.toMs < endMs)
          for (const open of lacking([{ fromMs: own.toMs, toMs: endMs }], covered))
            add(false, open.fromMs, open.toMs);
      }
    }
    return [...found.values()];
  }

  /** The times of a series that a run covers with those before it; none where one of these is damaged. */
  async #coveredWith(run: RunSpan, stored: OpenSeries['row'], calendar: Calendar): Promise<readonly Span[]> {
    const { interval } = run;
    try {
      const runs = [...(await runsOf(this.#run.writer, stored)), run];
      return coveredTimes(calendar, { ...stored, interval }, untold, { runs, files: begunRuns(runs) });
    } catch (error) {
      if (error instanceof DamagedData) return [];
      throw error;
    }
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

// The series of a market: the first of them by symbol, and how far half of them reach.
import { firstWhere } from '../../base/search.ts';
import { overThroughMs, sessionOfBar } from '../../market/calendar/bar-end.ts';
import type { Calendars } from '../../series/calendars.ts';
import { knownSeries } from '../../series/read-stored.ts';
import { SeriesRuns } from '../../series/run-spans.ts';
import { asStored, marketName, type Series } from '../../series/series.ts';
import { lastFinished } from '../../series/unfinished.ts';
import { allRows, rowsAmong } from '../../store/all-rows.ts';
import { series as seriesDataset } from '../../store/schema/bars.ts';
import { always, isKnown, type KnownMoment } from '../../store/schema/dataset.ts';
import { type Instrument, instruments, symbolOn } from '../../store/schema/reference.ts';
import type { Reader } from '../../store/store.ts';
import { findingLimits } from './limits.ts';
import { reachedByHalf } from './missing-sessions.ts';

/** One series of a market up to its last finished bar; as of a moment the part which was known. */
export type Member = {
  readonly instrument: Instrument;
  readonly symbol: string;
  readonly row: Series;
};

/** The series of one interval of a market. */
export type Members = {
  /** The first by symbol. */
  readonly first: readonly Member[];
  /** The label date of the newest session that at least half of all reach. */
  readonly reachedDay: number;
};

/** The name of the series of a market at an interval: `stock/US_STOCK DAY`. */
export const memberKey = (market: string, interval: string): string => `${market} ${interval}`;

type Growing = { readonly first: Member[]; readonly newestDays: number[] };

/**
 * Tools to read them, as of a moment or with all that is stored. `onBars` is called with the cost of a
 * reading, in bars.
 */
type MemberTools = {
  readonly reader: Reader;
  readonly calendars: Calendars;
  readonly onBars: (count: number) => void;
  readonly moment: KnownMoment;
};

/** Puts a member among the first by symbol. */
function addFirst(first: Member[], member: Member): void {
  const at = firstWhere(first.length, (index) => first[index]!.symbol > member.symbol);
  first.splice(at, 0, member);
  if (first.length > findingLimits.witnessesMax) first.pop();
}

async function addMembers(
  { reader, calendars, onBars, moment }: MemberTools,
  some: readonly Instrument[],
  { growing, runs }: { readonly growing: Map<string, Growing>; readonly runs: SeriesRuns },
): Promise<void> {
  // As of a moment the blocks around it are read too.
  onBars(some.length * findingLimits.barsPerMember * (moment === always ? 1 : 2));
  const ids = some.map(({ instrument_id }) => instrument_id);
  const all = await rowsAmong(reader, seriesDataset, {}, 'instrument_id', ids);
  await runs.read(all);
  const rows = Map.groupBy(all, ({ instrument_id }) => instrument_id);
  for (const instrument of some) {
    if (!isKnown(instruments, instrument, moment)) continue;
    const symbol = symbolOn(instrument, moment.dayIn(instrument.asset_schema, instrument.country_iso_code));
    const { calendar: whole, market } = await calendars.read(reader, instrument);
    const calendar = whole.knownAt(moment.ms);
    const calendarsOf = { calendar: whole, known: calendar };
    const throughMs = overThroughMs(calendar, moment.ms);
    for (const stored of rows.get(instrument.instrument_id) ?? []) {
      if (stored.bar_count === 0) continue;
      const [known] = await knownSeries(reader, calendarsOf, [asStored(stored)], throughMs);
      // By the calendar of the present bars close.
      const last_ms = known === undefined ? null : await lastFinished(reader, whole, known, runs.of(stored));
      if (last_ms === null) continue;
      const row: Series = { ...known!, last_ms };
      const { interval } = row;
      const key = memberKey(marketName(instrument, market), interval);
      const { first, newestDays } = growing.get(key) ?? { first: [], newestDays: [] };
      growing.set(key, { first, newestDays });
      newestDays.push(sessionOfBar(calendar, interval, last_ms));
      addFirst(first, { instrument, symbol, row });
    }
  }
}

/** The series of an asset type and country that have bars, by market and interval. */
export async function marketMembers(
  tools: MemberTools,
  { asset_schema, country_iso_code }: Pick<Instrument, 'asset_schema' | 'country_iso_code'>,
): Promise<ReadonlyMap<string, Members>> {
  const growing = new Map<string, Growing>();
  const found = { growing, runs: new SeriesRuns(tools.reader) };
  let some: Instrument[] = [];
  for await (const instrument of allRows(tools.reader, instruments, { asset_schema, country_iso_code })) {
    some.push(instrument);
    if (some.length < findingLimits.instrumentsPerRead) continue;
    await addMembers(tools, some, found);
    some = [];
  }
  await addMembers(tools, some, found);
  return new Map(
    Array.from(growing, ([key, { first, newestDays }]) => [
      key,
      { first, reachedDay: reachedByHalf(newestDays)! },
    ]),
  );
}

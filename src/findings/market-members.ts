// The series of a market: the first of them by symbol, and how far half of them reach.
import { DAY_MS } from '../base/instant.ts';
import { labelOfBar } from '../calendar/bar-end.ts';
import type { Interval } from '../contract/interval.ts';
import { series as seriesDataset } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { type Instrument, instruments } from '../datasets/reference.ts';
import type { Calendars } from '../series/calendars.ts';
import { marketName } from '../series/series.ts';
import { allRows } from '../store/all-rows.ts';
import type { Reader } from '../store/store.ts';
import { findingLimits } from './limits.ts';
import { reachedByHalf } from './missing-sessions.ts';

/** One series of a market. */
export type Member = {
  readonly instrument: Instrument;
  readonly row: Omit<RowOf<typeof seriesDataset>, 'interval'> & { readonly interval: Interval };
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

/** Tools to read them. `onBars` is told what reading takes, in bars. */
type MemberTools = {
  readonly reader: Reader;
  readonly calendars: Calendars;
  readonly onBars: (count: number) => void;
};

async function addMembers(
  { reader, calendars, onBars }: MemberTools,
  some: readonly Instrument[],
  growing: Map<string, Growing>,
): Promise<void> {
  onBars(some.length * findingLimits.barsPerMember);
  const ids = some.map(({ instrument_id }) => instrument_id);
  const rows = Map.groupBy(
    await reader.among(seriesDataset, {}, 'instrument_id', ids),
    ({ instrument_id }) => instrument_id,
  );
  for (const instrument of some) {
    const { calendar, market } = await calendars.read(reader, instrument);
    for (const row of rows.get(instrument.instrument_id) ?? []) {
      if (row.bar_count === 0) continue;
      const interval = row.interval as Interval;
      const label = labelOfBar(calendar, interval, row.last_ms);
      const key = memberKey(marketName(instrument, market), interval);
      const { first, newestDays } = growing.get(key) ?? { first: [], newestDays: [] };
      growing.set(key, { first, newestDays });
      newestDays.push(interval === 'DAY' ? calendar.labelOfRow(row.last_ms / DAY_MS) : label);
      if (first.length < findingLimits.witnessesMax) first.push({ instrument, row: { ...row, interval } });
    }
  }
}

/** The series of an asset type and country that have bars, by market and interval. */
export async function marketMembers(
  tools: MemberTools,
  { asset_schema, country_iso_code }: Pick<Instrument, 'asset_schema' | 'country_iso_code'>,
): Promise<ReadonlyMap<string, Members>> {
  const growing = new Map<string, Growing>();
  let some: Instrument[] = [];
  for await (const instrument of allRows(tools.reader, instruments, { asset_schema, country_iso_code })) {
    some.push(instrument);
    if (some.length < findingLimits.instrumentsPerRead) continue;
    await addMembers(tools, some, growing);
    some = [];
  }
  await addMembers(tools, some, growing);
  return new Map(
    Array.from(growing, ([key, { first, newestDays }]) => [
      key,
      { first, reachedDay: reachedByHalf(newestDays)! },
    ]),
  );
}

// Whether prices that were adjusted before their import may show a moment what came after it (contract 9.8).

import { Refusal } from '../contract/errors.ts';
import { volumeBasis } from '../contract/file-words.ts';
import type { AssetSchema } from '../contract/identifiers.ts';
import type { Interval } from '../contract/interval.ts';
import { calendarOf } from '../market/calendar/calendar.ts';
import { divides } from '../series/plan.ts';
import type { Series } from '../series/series.ts';
import { allRows, rowsAmong } from '../store/all-rows.ts';
import { series as seriesDataset } from '../store/schema/bars.ts';
import { corporateActions, isOfShares } from '../store/schema/corporate-actions.ts';
import { always } from '../store/schema/dataset.ts';
import { instruments } from '../store/schema/reference.ts';
import type { Reader } from '../store/store.ts';
import type { Found } from './lookup.ts';
import type { QueryContext } from './query.ts';

type Basis = Pick<Series, 'interval' | 'prices' | 'volumes'>;

const isAdjusted = (series: Omit<Basis, 'interval'>): boolean =>
  series.prices !== 'raw' || volumeBasis(series) !== 'raw';

/** The limit of an answer that is made of them. */
const ADJUSTED_BEFORE = 'prices adjusted before their import';

/**
 * The refusal of a series that holds an action after the moment. It does not say when that is: the caller may
 * not know it yet.
 */
function refusalOf({ interval, prices }: Series): Refusal {
  const what = prices === 'raw' ? 'volumes' : 'prices';
  const basis = prices === 'raw' ? '--volumes split' : `--prices ${prices}`;
  return new Refusal('invalid_parameter', {
    message: `as_of needs raw prices: the ${what} of the stored ${interval} bars had been adjusted when imported (${basis}), for later actions too.`,
    param: 'as_of',
    hint: 'Import raw bars and use adjust=all, or request an interval or range that has raw bars.',
  });
}

/**
 * Gives the check to call for each series that an answer is made of; null where all of an instrument are as
 * traded. A series that the check cannot judge is named in the limits of the answer. It throws a Refusal for
 * a series that holds an action after the moment.
 */
export async function priceCheck(
  { reader, moment, clockMs, undated }: QueryContext,
  { instrument, series }: Found,
): Promise<((used: Series) => void) | null> {
  if (moment === always || !series.some(isAdjusted)) return null;
  const { asset_schema, country_iso_code, symbol } = instrument;
  const assetSchema = asset_schema as AssetSchema;
  const actions =
    assetSchema === 'stock' ? await reader.group(corporateActions, { country_iso_code, symbol }) : [];
  const day = moment.dayIn(assetSchema, country_iso_code);
  const today = calendarOf(assetSchema, country_iso_code).zone.dayAt(clockMs);
  const later = actions.filter(({ ex_date }) => ex_date > day && ex_date <= today);
  const hasSplit = later.some(({ action_type }) => isOfShares(action_type));
  return (used) => {
    if (!isAdjusted(used)) return;
    if (hasSplit || (used.prices === 'all' && later.length > 0)) throw refusalOf(used);
    undated.add(ADJUSTED_BEFORE);
  };
}

/**
 * Whether bars of an interval may be made of an adjusted series: which series serve a range shows where it is
 * read.
 */
const mayHold = (series: Basis, interval: Interval): boolean =>
  isAdjusted(series) &&
  (series.interval === interval || divides({ interval: series.interval, isOffGrid: false }, interval));

/** Names in the limits what the bars of an instrument may hold, before they are read. */
export function namePrices({ undated }: QueryContext, interval: Interval, { series }: Found): void {
  if (series.some((one) => mayHold(one, interval))) undated.add(ADJUSTED_BEFORE);
}

/** Instruments that are looked up at once. */
const INSTRUMENTS_PER_READ = 500;

/**
 * The instruments that have a series of which bars of an interval may hold what came later, some at a time.
 */
async function* mayHoldLater(reader: Reader, interval: Interval): AsyncGenerator<number[]> {
  let ids: number[] = [];
  for await (const { instrument_id, bar_count, ...row } of allRows(reader, seriesDataset)) {
    if (bar_count === 0 || !mayHold({ ...row, interval: row.interval as Interval }, interval)) continue;
    ids.push(instrument_id);
    if (ids.length < INSTRUMENTS_PER_READ) continue;
    yield ids;
    ids = [];
  }
  if (ids.length > 0) yield ids;
}

/**
 * As `namePrices`, of all instruments of a market. It reads the rows of all series, some 20,000 in a large
 * store.
 */
export async function nameMarketPrices(
  { reader, undated }: QueryContext,
  interval: Interval,
  assetSchema: AssetSchema,
  country: string,
): Promise<void> {
  for await (const ids of mayHoldLater(reader, interval)) {
    const found = await rowsAmong(reader, instruments, {}, 'instrument_id', [...new Set(ids)]);
    if (!found.some((one) => one.asset_schema === assetSchema && one.country_iso_code === country)) continue;
    undated.add(ADJUSTED_BEFORE);
    return;
  }
}

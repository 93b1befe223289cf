// The findings in series of DAY and above.

import { DAY_MS } from '../../base/instant.ts';
import { intervalMinutes } from '../../contract/interval.ts';
import type { Bars } from '../../market/bars/columns.ts';
import { labelOfBar } from '../../market/calendar/bar-end.ts';
import { type Action, asTraded } from '../../series/factors.ts';
import { corporateActions } from '../../store/schema/corporate-actions.ts';
import { isKnown, type KnownMoment } from '../../store/schema/dataset.ts';
import type { Reader } from '../../store/store.ts';
import { staleBars, vwapsOutside } from './bar-values.ts';
import { doubtfulDividends } from './dividends.ts';
import type { Spotted } from './finding.ts';
import { isolatedWicks } from './isolated-wick.ts';
import type { MarketFacts, Subject } from './market-facts.ts';
import {
  behind,
  type Compared,
  closedDayFindings,
  compareSessions,
  missingSessions,
} from './missing-sessions.ts';
import { actionsWithoutJump, unrecordedSplits } from './splits.ts';
import { thresholds } from './thresholds.ts';

/** Wicks that fewer than some other series of the market have at once. */
async function lonelyWicks(facts: MarketFacts, subject: Subject, bars: Bars): Promise<Spotted[]> {
  const found: Spotted[] = [];
  for (const wick of isolatedWicks(bars))
    if ((await facts.othersWithWick(subject, wick)) + 1 < thresholds.wickInstruments) found.push(wick);
  return found;
}

const labelsOf = (bars: Bars): Int32Array =>
  Int32Array.from(bars.keyMs.subarray(0, bars.count), (keyMs) => keyMs / DAY_MS);

/**
 * Whether finer bars of the instrument go on after the last session of a series: its later bars are derived
 * from these.
 */
function isContinued({ stored, series }: Subject, newestDay: number): boolean {
  const minutes = intervalMinutes(series.interval) ?? Number.POSITIVE_INFINITY;
  return stored.series.some((other) => {
    const otherMinutes = intervalMinutes(other.interval);
    if (otherMinutes === null || otherMinutes >= minutes) return false;
    return labelOfBar(stored.calendar, other.interval, other.last_ms) > newestDay;
  });
}

/** The sessions that a series lacks, by the label dates that it has. */
export async function sessionFindings(
  facts: MarketFacts,
  subject: Subject,
  { days, isActive, ...compared }: SessionDays,
): Promise<Spotted[]> {
  const missing = await missingSessions(compared, (day) => facts.isMissed(subject, day));
  const newestDay = days[days.length - 1];
  if (!isActive || newestDay === undefined || isContinued(subject, newestDay)) return missing;
  return [...missing, ...behind(subject.stored.calendar, newestDay, await facts.reachedDay(subject))];
}

/** The label dates of a series, ascending, and those of its calendar between them. */
type SessionDays = Pick<Compared, 'holes' | 'sessions'> & {
  readonly days: ArrayLike<number>;
  readonly isActive: boolean;
};

/** The actions of an instrument that count, with amounts as traded: only stocks have any. */
export async function actionsOf(
  reader: Reader,
  { asset_schema, country_iso_code, symbol }: Subject['stored']['instrument'],
  moment: KnownMoment,
): Promise<readonly Action[]> {
  if (asset_schema !== 'stock') return [];
  const all = await reader.group(corporateActions, { country_iso_code, symbol });
  const known = all.filter((action) => isKnown(corporateActions, action, moment));
  return known.map((action) => asTraded(action, all));
}

/** The findings about splits in the days of a stock. */
export function splitFindings(
  { stored, series }: Subject,
  bars: Bars,
  actions: readonly Action[],
): Spotted[] {
  const { calendar, instrument } = stored;
  if (instrument.asset_schema !== 'stock') return [];
  return [
    ...unrecordedSplits(bars, { calendar, instrument, actions }),
    ...(series.prices === 'raw' ? actionsWithoutJump(bars, actions) : []),
  ];
}

/** The findings about all its actions in them. */
export function dayFindings(subject: Subject, bars: Bars, actions: readonly Action[]): Spotted[] {
  const { stored, series } = subject;
  return [
    ...splitFindings(subject, bars, actions),
    ...(series.prices === 'raw' ? doubtfulDividends(bars, { ...stored, actions }) : []),
  ];
}

/**
 * The findings in all bars of a series of DAY and above. Option contracts trade now and then: nothing is
 * usual in them.
 */
export async function periodFindings(
  facts: MarketFacts,
  subject: Subject,
  bars: Bars,
  { actions, isActive }: { readonly actions: readonly Action[]; readonly isActive: boolean },
): Promise<Spotted[]> {
  const { stored, series } = subject;
  const { instrument } = stored;
  const found = [...staleBars(bars), ...vwapsOutside(bars)];
  if (instrument.asset_schema !== 'option') found.push(...(await lonelyWicks(facts, subject, bars)));
  if (series.interval !== 'DAY') return found;
  const days = labelsOf(bars);
  const { closedDays, ...compared } = compareSessions(stored.calendar, days);
  found.push(...closedDayFindings(closedDays), ...dayFindings(subject, bars, actions));
  if (instrument.asset_schema !== 'option')
    found.push(...(await sessionFindings(facts, subject, { days, isActive, ...compared })));
  return found;
}

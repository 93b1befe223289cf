// The findings in series of DAY and above.
import type { Bars } from '../bars/columns.ts';
import { DAY_MS } from '../base/instant.ts';
import type { Calendar } from '../calendar/calendar.ts';
import { corporateActions } from '../datasets/corporate-actions.ts';
import type { Action } from '../series/factors.ts';
import type { Reader } from '../store/store.ts';
import { staleBars, vwapsOutside } from './bar-values.ts';
import { impossibleDividends } from './dividends.ts';
import type { Spotted } from './finding.ts';
import { isolatedWicks } from './isolated-wick.ts';
import type { MarketFacts, Subject } from './market-facts.ts';
import { behind, missingSessions } from './missing-sessions.ts';
import { actionsWithoutJump, unrecordedSplits } from './splits.ts';
import { thresholds } from './thresholds.ts';

/** DAY bars on dates without a session; one whose evening opens a session is part of that (contract 3.10). */
export function closedDays(calendar: Calendar, bars: Bars): Spotted[] {
  const found: Spotted[] = [];
  for (let at = 0; at < bars.count; at++) {
    const keyMs = bars.keyMs[at]!;
    if (calendar.sessionOn(keyMs / DAY_MS) !== null) continue;
    found.push({
      kind: 'closed_day',
      severity: 'warning',
      ...{ fromKeyMs: keyMs, toKeyMs: keyMs, value: 1, expected: 0 },
      message: 'the calendar has no session on this date',
    });
  }
  return found;
}

/** Wicks that fewer than some other series of the market have at once. */
async function lonelyWicks(facts: MarketFacts, subject: Subject, bars: Bars): Promise<Spotted[]> {
  const found: Spotted[] = [];
  for (const wick of isolatedWicks(bars))
    if ((await facts.othersWithWick(subject, wick)) + 1 < thresholds.wickInstruments) found.push(wick);
  return found;
}

const labelsOf = (bars: Bars): Int32Array =>
  Int32Array.from(bars.keyMs.subarray(0, bars.count), (keyMs) => keyMs / DAY_MS);

/** What needs sessions: a DAY series against its calendar and its market. */
export async function sessionFindings(
  facts: MarketFacts,
  subject: Subject,
  days: ArrayLike<number>,
  isActive: boolean,
): Promise<Spotted[]> {
  const { calendar } = subject.stored;
  const missing = await missingSessions(calendar, days, (day) => facts.isMissed(subject, day));
  const newestDay = days[days.length - 1];
  if (!isActive || newestDay === undefined) return missing;
  return [...missing, ...behind(calendar, newestDay, await facts.reachedDay(subject))];
}

/** The dividends and splits of an instrument: only stocks have any. */
export async function actionsOf(
  reader: Reader,
  { asset_schema, country_iso_code, symbol }: Subject['stored']['instrument'],
): Promise<readonly Action[]> {
  if (asset_schema !== 'stock') return [];
  return reader.group(corporateActions, { country_iso_code, symbol });
}

function splitFindings({ stored, series }: Subject, bars: Bars, actions: readonly Action[]): Spotted[] {
  if (stored.instrument.asset_schema !== 'stock') return [];
  const { calendar, instrument } = stored;
  return [
    ...unrecordedSplits(bars, { calendar, actions, tickSize: instrument.tick_size }),
    ...(series.prices === 'raw' ? actionsWithoutJump(bars, actions) : []),
  ];
}

/** The findings in all bars of a series of DAY and above. Option contracts trade now and then: nothing is usual in them. */
export async function periodFindings(
  facts: MarketFacts,
  subject: Subject,
  bars: Bars,
  { actions, isActive }: { readonly actions: readonly Action[]; readonly isActive: boolean },
): Promise<Spotted[]> {
  const { stored, series } = subject;
  const { calendar, instrument } = stored;
  const found = [...staleBars(bars), ...vwapsOutside(bars)];
  if (instrument.asset_schema !== 'option') found.push(...(await lonelyWicks(facts, subject, bars)));
  if (series.interval !== 'DAY') return found;
  found.push(...closedDays(calendar, bars), ...splitFindings(subject, bars, actions));
  if (series.prices === 'raw') found.push(...impossibleDividends(bars, actions));
  if (instrument.asset_schema !== 'option')
    found.push(...(await sessionFindings(facts, subject, labelsOf(bars), isActive)));
  return found;
}

// Synthetic economic events for the demo, past ones and coming ones: a pure function of the day. They are not real figures.
import { hash } from 'node:crypto';
import { DAY_MS, formatDay, MINUTE_MS, weekdayOf } from '../base/instant.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { events } from '../datasets/economic.ts';
import { changeRow } from '../history/journal.ts';
import type { Writer } from '../store/store.ts';

type Sample = {
  readonly country: string;
  readonly code: string;
  readonly name: string;
  /** 0 high, 1 medium, 2 low. */
  readonly rank: number;
  readonly everyDays: number;
  /** Of the day, UTC. */
  readonly minute: number;
  readonly unit: string;
  /** Around which the figures move, by how much, and their decimals. */
  readonly level: number;
  readonly swing: number;
  readonly decimals: number;
};

const sample = (
  [country, code, name, unit]: readonly [string, string, string, string],
  [rank, everyDays, minute]: readonly [number, number, number],
  [level, swing, decimals]: readonly [number, number, number],
): Sample => ({ country, code, name, unit, rank, everyDays, minute, level, swing, decimals });

const samples: readonly Sample[] = [
  sample(['US', 'EMPLOYMENT_NFP_HEADLINE', 'Nonfarm payrolls', 'thousand'], [0, 28, 750], [170, 60, 0]),
  sample(
    ['US', 'EMPLOYMENT_INITIAL_JOBLESS_CLAIMS', 'Initial jobless claims', 'thousand'],
    [1, 7, 750],
    [225, 15, 0],
  ),
  sample(['US', 'INFLATION_RATE_HEADLINE_YOY', 'Inflation rate, yearly', '%'], [0, 28, 750], [2.9, 0.4, 1]),
  sample(
    ['US', 'CONSUMPTION_RETAIL_SALES_HEADLINE_MOM', 'Retail sales, monthly', '%'],
    [1, 28, 750],
    [0.3, 0.6, 1],
  ),
  sample(
    ['US', 'BUSINESS_PMI_MANUFACTURING_ISM', 'ISM manufacturing PMI', 'points'],
    [1, 28, 840],
    [49.5, 1.6, 1],
  ),
  sample(['US', 'HOUSING_STARTS_ABSOLUTE', 'Housing starts', 'million'], [2, 28, 750], [1.38, 0.08, 3]),
  sample(
    ['US', 'FED_POLICY_INTEREST_RATE_DECISION', 'Fed interest rate decision', '%'],
    [0, 49, 1080],
    [4.5, 0, 2],
  ),
  sample(
    ['EU', 'INFLATION_RATE_FLASH_YOY', 'Inflation rate, yearly, flash', '%'],
    [0, 28, 540],
    [2.3, 0.3, 1],
  ),
  sample(
    ['EU', 'ECB_POLICY_INTEREST_RATE_DECISION', 'ECB interest rate decision', '%'],
    [0, 49, 735],
    [2.15, 0, 2],
  ),
  sample(['UK', 'GDP_GROWTH_RATE_MOM', 'GDP, monthly', '%'], [1, 28, 360], [0.1, 0.3, 1]),
  sample(['DE', 'BUSINESS_CLIMATE_IFO', 'ifo business climate', 'points'], [1, 28, 480], [87.5, 1.5, 1]),
  sample(['JP', 'INFLATION_RATE_CORE_YOY', 'Core inflation rate, yearly', '%'], [1, 28, 1410], [2.6, 0.4, 1]),
  sample(
    ['CN', 'BUSINESS_PMI_MANUFACTURING_NBS', 'NBS manufacturing PMI', 'points'],
    [0, 28, 90],
    [50.1, 0.6, 1],
  ),
];

/** Days before and after today that have events. */
const PAST_DAYS = 365;
const COMING_DAYS = 60;
const FRIDAY = 5;

/** The figure of the n-th time of a sample. */
function figure({ code, level, swing, decimals }: Sample, time: number): number {
  return Number((level + swing * Math.sin(time * 2.4 + code.length)).toFixed(decimals));
}

function rowOf(about: Sample, day: number, today: number): RowOf<typeof events> {
  const time = Math.floor(day / about.everyDays);
  const previous = figure(about, time - 1);
  return {
    source_id: hash('sha256', JSON.stringify(['bourse demo', about.country, about.code, day])),
    country_iso_code: about.country,
    event_code: about.code,
    event_name: `${about.name} (synthetic)`,
    event_driven_type: 'time_driven',
    rank: about.rank,
    event_timestamp: day * DAY_MS + about.minute * MINUTE_MS,
    // Of today nothing is known yet: the demo is made at any hour of it.
    actual_value: day < today ? figure(about, time) : null,
    previous_value: previous,
    forecast_value: Number((previous + about.swing / 4).toFixed(about.decimals)),
    change: null,
    change_percent: null,
    period: formatDay(day - about.everyDays).slice(0, 7),
    unit: about.unit,
  };
}

/** The days of a sample: every so many, each sample on others, none on a weekend. */
function daysOf({ everyDays }: Sample, index: number, today: number): number[] {
  const days: number[] = [];
  for (let day = today - PAST_DAYS; day < today + COMING_DAYS; day++) {
    if ((day + index * 3) % everyDays !== 0) continue;
    const late = weekdayOf(day) - FRIDAY;
    days.push(late > 0 ? day - late : day);
  }
  return days;
}

/** Writes the demo's events: a year up to `today`, and two months after it. */
export async function writeDemoEvents(writer: Writer, runId: number, today: number): Promise<void> {
  for (const [index, about] of samples.entries()) {
    for (const day of daysOf(about, index, today))
      await changeRow(writer, runId, events, null, rowOf(about, day, today));
  }
}

// The time axis in a market's own time: a day of it begins with its session, not at midnight in UTC.
import { defaultHorzScaleBehavior } from 'lightweight-charts';
import { dateText, type MarketClock } from './market-clock.ts';

/**
 * The days of the axis: the label date of a point in seconds; absent for a point that belongs to no
 * session.
 */
type Labels = { readonly clock: MarketClock; readonly labelOf: (time: number) => string | undefined };

// The weights that lightweight-charts has for tick marks: the greater, the rather a mark is shown.
const weights = { minute: 20, minutes5: 21, minutes30: 22, hour: 30, hours3: 31, hours6: 32 } as const;
const DAY = 50;
const MONTH = 60;
const YEAR = 70;

const MINUTE = 60;
const HOUR = 3_600;

function weightInDay(localSeconds: number): number {
  if (localSeconds % (6 * HOUR) === 0) return weights.hours6;
  if (localSeconds % (3 * HOUR) === 0) return weights.hours3;
  if (localSeconds % HOUR === 0) return weights.hour;
  if (localSeconds % (30 * MINUTE) === 0) return weights.minutes30;
  return localSeconds % (5 * MINUTE) === 0 ? weights.minutes5 : weights.minute;
}

function weightBetween(before: string, label: string, localSeconds: number): number {
  if (before.slice(0, 4) !== label.slice(0, 4)) return YEAR;
  if (before.slice(0, 7) !== label.slice(0, 7)) return MONTH;
  return before === label ? weightInDay(localSeconds) : DAY;
}

type Behavior = InstanceType<ReturnType<typeof defaultHorzScaleBehavior>>;
type Points = Parameters<Behavior['fillWeightsForPoints']>[0];

/** A time scale on which days, months and years begin with the sessions that their labels name. */
export class MarketTimeScale extends defaultHorzScaleBehavior() {
  labels: Labels | null = null;

  override fillWeightsForPoints(points: Points, startIndex: number): void {
    const { labels } = this;
    if (labels === null) {
      super.fillWeightsForPoints(points, startIndex);
      return;
    }
    const timeOf = (index: number): number => Number(points[index]!.originalTime);
    const labelAt = (time: number): string =>
      labels.labelOf(time) ?? new Date(labels.clock.localMs(time * 1_000)).toISOString().slice(0, 10);
    for (
      let index = startIndex, before = startIndex > 0 ? labelAt(timeOf(startIndex - 1)) : null;
      index < points.length;
      index++
    ) {
      const time = timeOf(index);
      const label = labelAt(time);
      const weight = weightBetween(before ?? label, label, labels.clock.localMs(time * 1_000) / 1_000);
      (points[index] as { timeWeight: number }).timeWeight = before === null ? DAY : weight;
      before = label;
    }
  }

  override formatTickmark(
    mark: Parameters<Behavior['formatTickmark']>[0],
    localization: Parameters<Behavior['formatTickmark']>[1],
  ): string {
    const { labels } = this;
    if (labels === null) return super.formatTickmark(mark, localization);
    const ms = Number(mark.originalTime) * 1_000;
    if (mark.weight < DAY) return labels.clock.time(ms);
    const label = labels.labelOf(ms / 1_000);
    const [day, month, year] = dateText(
      label === undefined ? labels.clock.localMs(ms) : Date.parse(label),
    ).split(' ');
    if (mark.weight >= YEAR) return year!;
    return mark.weight >= MONTH ? month! : `${day} ${month}`;
  }
}

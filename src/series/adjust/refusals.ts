// The refusals of a request for adjusted bars that the stored bars cannot give (contract 9.4).
import { formatDay } from '../../base/instant.ts';
import { Refusal } from '../../contract/errors.ts';
import type { Interval } from '../../contract/interval.ts';
import type { Instrument } from '../../store/schema/reference.ts';

const here = 'adjust cannot be answered:';

/** Prices were adjusted before the import, by the basis `prices`. */
export const notRaw = (interval: Interval, prices: string): Refusal =>
  new Refusal('invalid_parameter', {
    message: `adjust must be none: the stored ${interval} bars had been adjusted when imported (--prices ${prices}), and only raw prices can be adjusted.`,
    param: 'adjust',
    allowed: ['none'],
    hint: 'Ask with adjust=none; or for another interval or range, where raw bars are stored.',
  });

/** A bar has volumes of series that were adjusted for splits before the import, and of others. */
export const twoVolumes = (interval: Interval): Refusal =>
  new Refusal('invalid_parameter', {
    message: `${here} the ${interval} bars are made of bars whose volumes were adjusted for splits before they were imported (--volumes split), and of others.`,
    param: 'adjust',
    hint: 'Ask with adjust=none.',
  });

/**
 * Volumes that were adjusted for splits before the import contain that of `exDay`, which the request leaves
 * out.
 */
export const laterSplit = (exDay: number): Refusal =>
  new Refusal('invalid_parameter', {
    message: `adjust_as_of is before the split of ${formatDay(exDay)}, which the volumes of these bars contain: they were adjusted for splits before they were imported (--volumes split).`,
    param: 'adjust_as_of',
    hint: `Ask with adjust_as_of=${formatDay(exDay)} or later, or with adjust=none.`,
  });

/**
 * The bar of the period that begins on `startDay` has sessions on both sides of an ex-date, and no DAY bars
 * are stored to rebuild it from.
 */
export function noDays(
  { country_iso_code, symbol }: Instrument,
  interval: string,
  startDay: number,
  exDay: number,
): Refusal {
  const name = `${country_iso_code}:${symbol}`;
  return new Refusal('invalid_parameter', {
    message: `${here} the ${interval} bar of ${formatDay(startDay)} has sessions before and after the ex-date ${formatDay(exDay)}, and this service does not hold the DAY bars of ${name} to build it from.`,
    param: 'adjust',
    hint: `Import DAY bars of ${name}, or ask with adjust=none.`,
  });
}

// The refusals of a request for adjusted bars that the stored bars cannot give (contract 9.4).
import { formatDay } from '../base/instant.ts';
import { Refusal } from '../contract/errors.ts';
import { type AdjustObstacle, CannotAdjust } from '../series/cannot-adjust.ts';
import type { Found } from './lookup.ts';

function refusalOf(obstacle: AdjustObstacle, { instrument }: Found): Refusal {
  if (obstacle.kind === 'not-raw')
    return new Refusal('invalid_parameter', {
      message: `adjust must be none here: the prices of the ${obstacle.interval} bars that this is answered from were adjusted before they were imported (--prices ${obstacle.prices}), and only raw ones can be adjusted.`,
      param: 'adjust',
      allowed: ['none'],
      hint: 'Ask with adjust=none; or for another interval or range, where raw bars are stored.',
    });
  const here = 'adjust cannot be answered:';
  if (obstacle.kind === 'two-volumes')
    return new Refusal('invalid_parameter', {
      message: `${here} the ${obstacle.interval} bars are made of bars whose volumes were adjusted for splits before they were imported (--volumes split), and of others.`,
      param: 'adjust',
      hint: 'Ask with adjust=none.',
    });
  if (obstacle.kind === 'later-split')
    return new Refusal('invalid_parameter', {
      message: `adjust_as_of is before the split of ${formatDay(obstacle.exDay)}, which the volumes of these bars contain: they were adjusted for splits before they were imported (--volumes split).`,
      param: 'adjust_as_of',
      hint: `Ask with adjust_as_of=${formatDay(obstacle.exDay)} or later, or with adjust=none.`,
    });
  const name = `${instrument.country_iso_code}:${instrument.symbol}`;
  return new Refusal('invalid_parameter', {
    message: `${here} the ${obstacle.interval} bar of ${formatDay(obstacle.startDay)} has sessions before and after the ex-date ${formatDay(obstacle.exDay)}, and this service does not hold the DAY bars of ${name} to build it from.`,
    param: 'adjust',
    hint: `Import DAY bars of ${name}, or ask with adjust=none.`,
  });
}

/** The result of `work`. @throws Refusal `invalid_parameter` where the bars cannot be adjusted */
export async function refusingAdjust<T>(found: Found, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof CannotAdjust ? refusalOf(error.obstacle, found) : error;
  }
}

// Whether prices that were adjusted before their import may show a moment what came after it (contract 9.8).

import { Refusal } from '../contract/errors.ts';
import type { AssetSchema } from '../contract/identifiers.ts';
import { volumeBasis } from '../contract/price-basis.ts';
import { corporateActions } from '../datasets/corporate-actions.ts';
import type { Series } from '../series/series.ts';
import { dayOf } from './known-instrument.ts';
import type { Found } from './lookup.ts';
import type { AsOf, QueryContext } from './query.ts';

const isAdjusted = (series: Series): boolean => series.prices !== 'raw' || volumeBasis(series) !== 'raw';

/** The refusal of a series that holds an action after the moment. It does not say when that is: the caller may not know it yet. */
function refusalOf({ interval, prices }: Series): Refusal {
  const what = prices === 'raw' ? 'volumes' : 'prices';
  const basis = prices === 'raw' ? '--volumes split' : `--prices ${prices}`;
  return new Refusal('invalid_parameter', {
    message: `as_of cannot be answered here: the ${what} of the ${interval} bars that this is answered from were adjusted before they were imported (${basis}), also for what came after that moment.`,
    param: 'as_of',
    hint: 'Import raw bars, and ask with adjust=all; or ask for another interval or range, where raw bars are stored.',
  });
}

/**
 * What to call for each series that an answer is made of; null where all of an instrument are as traded.
 * What it is called for and cannot judge, it names in the limits of the answer. It throws a Refusal for a series that holds an action after
 * the moment.
 */
export async function priceCheck(
  { reader }: Pick<QueryContext, 'reader'>,
  asOf: AsOf,
  { instrument, series }: Found,
): Promise<((used: Series) => void) | null> {
  if (!series.some(isAdjusted)) return null;
  const { asset_schema, country_iso_code, symbol } = instrument;
  const assetSchema = asset_schema as AssetSchema;
  const actions =
    assetSchema === 'stock' ? await reader.group(corporateActions, { country_iso_code, symbol }) : [];
  const day = dayOf(asOf, assetSchema, country_iso_code);
  const today = dayOf({ ...asOf, ms: asOf.clockMs }, assetSchema, country_iso_code);
  const later = actions.filter(({ ex_date }) => ex_date > day && ex_date <= today);
  const hasSplit = later.some(({ action_type }) => action_type === 'split');
  return (used) => {
    if (!isAdjusted(used)) return;
    if (hasSplit || (used.prices === 'all' && later.length > 0)) throw refusalOf(used);
    asOf.limits.add('prices adjusted before their import');
  };
}

// A market at the moment of a request: its symbols in their order, and what judges its series (contract 9.8,
// 9.10, 9.11).
import type { AssetSchema } from '../contract/identifiers.ts';
import { instruments, instrumentTerms } from '../store/schema/reference.ts';
import type { MarketMoment } from './findings/market-facts.ts';
import { isActionKnown } from './known-actions.ts';
import { dayOf, isListedOn, symbolOn } from './known-instrument.ts';
import type { QueryContext } from './query.ts';

/**
 * Up to `limit` symbols behind one, in order. As of a moment some of them may name nothing then, or another
 * instrument.
 */
export async function symbolsAfter(
  { reader, asOf }: Pick<QueryContext, 'reader' | 'asOf'>,
  assetSchema: AssetSchema,
  country_iso_code: string,
  after: string | undefined,
  limit: number,
): Promise<readonly string[]> {
  const market = { asset_schema: assetSchema, country_iso_code };
  const present = await reader.rows(instruments, {
    where: market,
    order: [['symbol', 'asc']],
    ...(after !== undefined && { after: [after] }),
    limit,
  });
  const symbols = present.map(({ symbol }) => symbol);
  if (asOf === null) return symbols;
  const former = await reader.rows(instrumentTerms, {
    where: { ...market, kind: 'former' },
    order: [
      ['term', 'asc'],
      ['symbol', 'asc'],
    ],
    ...(after !== undefined && { after: [after, LAST] }),
    limit,
  });
  const terms = former.map(({ term }) => term);
  // A read that is full may have more behind its last one.
  const ends = [symbols, terms].flatMap((names) => (names.length === limit ? [names.at(-1)!] : []));
  const known = [...new Set([...symbols, ...terms])].filter((name) => ends.every((end) => name <= end));
  return known.sort().slice(0, limit);
}

/** Behind every symbol. */
const LAST = '\u{10ffff}';

/** As of which moment findings are judged, and what was known then; null where all that is stored counts. */
export function marketMoment({ asOf }: Pick<QueryContext, 'asOf'>): MarketMoment | null {
  if (asOf === null) return null;
  return {
    ms: asOf.ms,
    symbolOf(instrument) {
      const day = dayOf(asOf, instrument.asset_schema as AssetSchema, instrument.country_iso_code);
      return isListedOn(instrument, day) ? symbolOn(instrument, day) : null;
    },
    isKnown: (action) => isActionKnown(asOf, action),
  };
}

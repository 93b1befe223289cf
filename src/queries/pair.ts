// The two currencies in the symbol of a pair: `EURUSD`, `BTC-USD`, `BTCUSDT`.
import type { AssetSchema } from '../contract/identifiers.ts';

/** Base and quote currency; null where the symbol does not say. */
export type Pair = { readonly base: string | null; readonly quote: string | null };

const none: Pair = { base: null, quote: null };

/** Quote currencies of crypto pairs without a separator; longer ones first. */
const quotes = 'FDUSD USDT USDC BUSD TUSD USD EUR GBP JPY AUD CAD CHF BRL TRY KRW BTC ETH BNB'.split(' ');

/** The pair that a symbol of crypto or forex names. */
export function pairOf(assetSchema: AssetSchema, symbol: string): Pair {
  const separated = /^([A-Z0-9]+)[-_/]([A-Z0-9]+)$/.exec(symbol);
  if (separated !== null) return { base: separated[1]!, quote: separated[2]! };
  if (assetSchema === 'forex')
    return /^[A-Z]{6}$/.test(symbol) ? { base: symbol.slice(0, 3), quote: symbol.slice(3) } : none;
  const quote = quotes.find((one) => symbol.endsWith(one) && symbol.length > one.length);
  return quote === undefined ? none : { base: symbol.slice(0, -quote.length), quote };
}

// Page keys for the fuzzer, asked of the service in good form.
import type { GivenPageKey, Texts } from './answers.ts';

const symbols = ['US:AAPL', 'us:^gspc', 'US:A$#!@~&=+_/.-B'];

const bases: readonly Texts[] = symbols.flatMap((country_symbol) => [
  { schema_asset: 'stock', country_symbol, interval: '1M', from_date: '2025-03-03', to_date: '2025-03-04' },
  {
    schema_asset: 'STOCK',
    country_symbol,
    interval: '5m',
    from_date: '2025-03-03T14:30:00Z',
    to_date: '2025-03-04 23:00:00+00:00',
    sort: 'desc',
    is_eth: 'yes',
  },
]);

/** The address of a query without a key. */
function addressOf({ schema_asset, country_symbol, interval, from_date, to_date, ...query }: Texts): string {
  const [symbol, from, to] = [country_symbol, from_date, to_date].map((text) => encodeURIComponent(text!));
  const pairs = Object.entries(query).map(([name, text]) => `&${name}=${text}`);
  return `/api/v2/${schema_asset}/bars/${symbol}/${interval}/from/${from}/to/${to}?limit=2${pairs.join('')}`;
}

/** Asks for first pages; `ask` gives the body of an answer to an address without its key. */
export async function collectPageKeys(ask: (address: string) => Promise<string>): Promise<GivenPageKey[]> {
  const found: GivenPageKey[] = [];
  for (const texts of bases) {
    const body = JSON.parse(await ask(addressOf(texts))) as { result: { next_page_key: string } };
    found.push({ endpoint: 'historicalBars', texts, key: body.result.next_page_key });
  }
  return found;
}

// Search without regard to marks, case and separators (contract 9.2, 9.21).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fillStore } from './importing.ts';
import { LocalServer } from './local-server.ts';
import { fc } from './seed.ts';
import { Workshop } from './service.ts';

const shop = new Workshop();
after(() => shop.close());

const nowMs = Date.parse('2025-05-01T00:00:00Z');
const stock = { asset_schema: 'stock', country_iso_code: 'US' };

/** Names as companies write them, and as a keyboard without their letters does. */
const names: readonly (readonly [symbol: string, name: string, ...written: string[]])[] = [
  ['MAERSK', 'A.P. Møller - Mærsk A/S', 'moller', 'MØLLER', 'mollér', 'maersk', 'moller maersk'],
  ['ISCTR', 'Türkiye İş Bankası A.Ş.', 'is bankasi', 'İŞ BANKASI', 'iş bankası', 'turkiye is'],
  ['LDZ', 'Łódź Spółka', 'lodz', 'ŁÓDŹ', 'łódź spolka', 'spółka'],
  ['GRB', 'Großbau AG', 'grossbau', 'GROSSBAU', 'großbau', 'GROẞBAU'],
  ['THOR', 'Þórður hf.', 'thordur', 'ÞÓRÐUR', 'þorður'],
  ['DJ', 'Đuro Đaković', 'duro dakovic', 'ĐURO'],
  ['OEU', 'Œuvres Générales', 'oeuvres', 'œuvres', 'generales'],
];
const symbols = ['BRK.A', 'BRK.B', 'BRKX', 'ABR$A', 'XY_Z', 'A/B-C', 'OLD.N'];

await fillStore(shop.store, shop.folder, nowMs, [
  [
    'instruments',
    [
      ...names.map(([symbol, name]) => ({ ...stock, symbol, name })),
      ...symbols.map((symbol) => ({ ...stock, symbol })),
      { ...stock, symbol: 'NEW.N', former_symbols: 'WAS.N:2010-01-01..2024-12-31' },
      ...['BTC/USD', 'BTC/USDT', 'ETHUSD'].map((symbol) => ({
        ...{ asset_schema: 'crypto', country_iso_code: 'GLOBAL', symbol },
      })),
    ],
  ],
]);
const server = await LocalServer.open(shop.store, () => nowMs);
after(() => server.close());

async function search(
  query: string,
  schema = 'stock',
  more: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const parameters = new URLSearchParams({ query, limit: '100', ...more, secret_key: server.key });
  const response = await server.get(`/api/v2/${schema}/reference/search?${parameters.toString()}`);
  const { result } = (await response.json()) as { result: { data: { symbol: string }[] } };
  return result.data.map(({ symbol }) => symbol);
}

/** Now, and as of a moment: its search is another one. */
const moments = [{}, { as_of: '2025-04-30T00:00:00Z' }];

for (const [symbol, name, ...written] of names)
  test(`${name} is found by ${written.join(', ')} (contract 9.21)`, async () => {
    for (const more of moments)
      for (const query of [name, ...written])
        assert.deepEqual(await search(query, 'stock', more), [symbol], query);
  });

test('separators in symbols do not count (contract 9.21)', async () => {
  const cases: readonly (readonly [query: string, found: readonly string[], schema?: string])[] = [
    ['BRK.B', ['BRK.B']],
    ['BRK-B', ['BRK.B']],
    ['BRK/B', ['BRK.B']],
    ['brk b', ['BRK.B']],
    ['BRKB', ['BRK.B']],
    ['BRK-X', ['BRKX']],
    ['BRK', ['BRK.A', 'BRK.B', 'BRKX']],
    ['xyz', ['XY_Z']],
    ['ABC', ['A/B-C']],
    ['AB-', ['A/B-C', 'ABR$A']],
    ['NEWN', ['NEW.N']],
    ['btcusd', ['BTC/USD', 'BTC/USDT'], 'crypto'],
    ['BTC-US', ['BTC/USD', 'BTC/USDT'], 'crypto'],
    ['ETH/USD', ['ETHUSD'], 'crypto'],
    // Other notations of a suffix.
    ['ABRpA', ['ABR$A']],
    ['ABR-PA', ['ABR$A']],
    ['ABR.PRA', ['ABR$A']],
  ];
  for (const more of moments)
    for (const [query, found, schema] of cases)
      assert.deepEqual((await search(query, schema, more)).toSorted(), found.toSorted(), query);
  assert.deepEqual(await search('WASN', 'stock', { as_of: '2020-01-01T00:00:00Z' }), ['WAS.N']);
});

test('a search by a symbol finds what begins with it, separators aside: as a naive reading says (contract 9.21)', async () => {
  const plain = (text: string) => text.replace(/[./_-]/g, '');
  // Where symbols begin with the text as it is written, others are those with one separator at most.
  const isWhole = (symbol: string, text: string) =>
    plain(symbol) === plain(text) && symbol.length - plain(symbol).length <= 1;
  const query = fc.stringMatching(/^[A-D./_-]{1,4}$/).filter((text) => plain(text) !== '');
  const all = ['A', 'AB', 'A.B', 'A-B-C', 'A/BC', 'AB_C', 'ABC.D', 'B', 'B.A', 'BA', 'C.C', 'CC', 'D-A-B'];
  const url = shop.storeUrl('random');
  const de = { asset_schema: 'stock', country_iso_code: 'DE' };
  await fillStore(url, shop.folder, nowMs, [['instruments', all.map((symbol) => ({ ...de, symbol }))]]);
  const local = await LocalServer.open(url, () => nowMs);
  try {
    await fc.assert(
      fc.asyncProperty(query, async (text) => {
        const path = `/api/v2/stock/reference/search?limit=100&query=${encodeURIComponent(text)}&country_iso_code=DE&secret_key=${local.key}`;
        const { result } = (await (await local.get(path)).json()) as {
          result: { data: { symbol: string }[] };
        };
        const found = result.data.map(({ symbol }) => symbol);
        const begun = all.filter((symbol) => symbol.startsWith(text));
        const isAlike = (symbol: string) =>
          begun.length > 0 ? isWhole(symbol, text) : plain(symbol).startsWith(plain(text));
        const expected = all.filter((symbol) => begun.includes(symbol) || isAlike(symbol));
        assert.deepEqual(found.toSorted(), expected.toSorted(), text);
      }),
    );
  } finally {
    await local.close();
  }
});

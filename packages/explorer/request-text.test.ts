// The texts of a request: the address is the client's, and no quote of a value ends a text early.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AskedRequest, curlOf, pythonOf, typescriptOf, urlOf } from './request-text.ts';

const service = 'http://127.0.0.1:8080';

const bars: AskedRequest = {
  name: 'historicalBars',
  values: {
    ...{ schema_asset: 'crypto', country_symbol: 'GLOBAL:BTCUSD', interval: '60M' },
    ...{ from_date: '2026-01-01', to_date: '2026-01-31', is_eth: true, adjust: undefined },
  },
};

test('one request has the same values in each form (contract 9.3)', () => {
  assert.equal(
    urlOf(service, bars),
    `${service}/api/v2/crypto/bars/GLOBAL%3ABTCUSD/60M/from/2026-01-01/to/2026-01-31?is_eth=true`,
  );
  assert.equal(
    curlOf(service, bars),
    `curl -s -H "Authorization: Bearer $BOURSE_KEY" '${urlOf(service, bars)}'`,
  );
  assert.ok(
    typescriptOf(service, bars)!.includes(
      "bourse.bars('crypto', 'GLOBAL:BTCUSD', '60M', { from: '2026-01-01', to: '2026-01-31', is_eth: true }).toArray()",
    ),
  );
  assert.ok(
    pythonOf(service, bars)!.includes(
      "bourse.bars('crypto:GLOBAL:BTCUSD', '60M', '2026-01-01', '2026-01-31', is_eth=True)",
    ),
  );
});

test('a value with a quote stays one value', () => {
  const asked: AskedRequest = {
    name: 'newsList',
    values: { full_symbol: "stock:US:A'B\\", from_date: '2026-01-01' },
  };
  assert.ok(
    typescriptOf(service, asked)!.includes("{ full_symbol: 'stock:US:A\\'B\\\\', from: '2026-01-01' }"),
  );
  assert.ok(pythonOf(service, asked)!.includes("news('2026-01-01', symbol='stock:US:A\\'B\\\\')"));
  assert.ok(!urlOf(service, asked).includes("'"));
});

test('lists are lists, and each symbol has its asset type in Python (contract 9.11, 9.15)', () => {
  const newest: AskedRequest = {
    name: 'latestOfMany',
    values: {
      ...{ schema_asset: 'crypto', symbols: 'GLOBAL:BTCUSD,GLOBAL:ETHUSD', interval: 'DAY' },
      ...{ columns: 'symbol,close', timestamps: 'unix' },
    },
  };
  assert.ok(
    pythonOf(service, newest).includes(
      "bourse.latest(['crypto:GLOBAL:BTCUSD', 'crypto:GLOBAL:ETHUSD'], 'DAY', columns=['symbol', 'close'])",
    ),
  );
  assert.ok(
    typescriptOf(service, newest)!.includes(
      "bourse.latestOfMany('crypto', ['GLOBAL:BTCUSD', 'GLOBAL:ETHUSD'], 'DAY', { columns: ['symbol', 'close'], timestamps: 'unix' })",
    ),
  );
  const bulk: AskedRequest = {
    name: 'bulkBars',
    values: {
      ...{ schema_asset: 'stock', country_iso_code: 'US', interval: 'DAY', format: 'csv' },
      ...{ from_date: '2026-01-01', to_date: '2026-01-31', symbols: 'AAPL,MSFT' },
    },
  };
  assert.ok(
    pythonOf(service, bulk).includes("bulk('US', 'DAY', '2026-01-01', '2026-01-31', ['AAPL', 'MSFT'])"),
  );
  assert.equal(typescriptOf(service, bulk), null);
});

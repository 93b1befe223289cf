// Bars on days that are not as every other, against answers worked out by hand (test/answers, contract 3.3 to
// 3.6).
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { LocalServer } from './local-server.ts';
import { Workshop } from './service.ts';

type Numbers = readonly [open: number, high: number, low: number, close: number, volume: number];
type Answers = {
  readonly title: string;
  readonly market: readonly [schema: string, country: string];
  /** Interval of the imported bars. */
  readonly imported?: string;
  readonly minutes: readonly (readonly [open: string, ...Numbers])[];
  readonly asked: readonly {
    readonly interval: string;
    readonly from: string;
    readonly to: string;
    readonly is_eth?: boolean;
    readonly bars: readonly (readonly [open: string, close: string, ...Numbers])[];
  }[];
};

const folder = join(import.meta.dirname, 'answers');
const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
const answers = files.map((name) => ({
  symbol: name.replace('.json', '').toUpperCase(),
  ...(JSON.parse(readFileSync(join(folder, name), 'utf8')) as Answers),
}));

const shop = new Workshop();
let server: LocalServer;
let key = '';
before(async () => {
  for (const { symbol, market, imported = '1M', minutes } of answers) {
    const file = shop.path(`${symbol}.csv`);
    const lines = minutes.map(([open, ...values]) => `${open}:00Z,${values.join()}`);
    writeFileSync(file, ['datetime,open,high,low,close,volume', ...lines, ''].join('\n'));
    const [schema, country] = market;
    await shop.must(
      ...['import', 'bars', file, '--schema', schema, '--country', country],
      ...['--symbol', symbol, '--interval', imported, '--complete-through', new Date().toISOString()],
      ...['--complete-from', '1990-01-01T00:00:00Z'],
    );
  }
  server = await LocalServer.open(shop.store);
  ({ key } = server);
});
after(async () => {
  await server.close();
  shop.close();
});

const instant = (text: string): string => `${text}:00+00:00`;

for (const { title, symbol, market, asked } of answers) {
  for (const { interval, from, to, bars, is_eth = false } of asked) {
    const hours = is_eth ? ', extended hours included' : '';
    test(`${title}: ${interval} from ${from} to ${to}${hours} (contract 3.3, 3.4, 3.6)`, async () => {
      const [schema, country] = market;
      const path = `${schema}/bars/${country}:${symbol}/${interval}/from/${from}/to/${to}`;
      const response = await server.get(`/api/v2/${path}?format=json&is_eth=${is_eth}&secret_key=${key}`);
      const text = await response.text();
      assert.equal(response.status, 200, text);
      const { data } = (JSON.parse(text) as { result: { data: Record<string, unknown>[] } }).result;
      assert.deepEqual(
        data.map((bar) => [
          bar.datetime,
          bar.close_datetime,
          bar.open,
          bar.high,
          bar.low,
          bar.close,
          bar.volume,
        ]),
        bars.map(([open, close, ...values]) => [instant(open), instant(close), ...values]),
      );
    });
  }
}

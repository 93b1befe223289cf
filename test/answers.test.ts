// Real minutes in, every interval out, against answers that other programs worked out (contract 3, spec
// 4.10).
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { LocalServer } from './local-server.ts';
import { sharedData, Workshop } from './service.ts';

type Cells = Readonly<Record<string, string>>;

type Case = {
  readonly name: string;
  readonly market: readonly [schema: string, country: string];
  readonly from: string;
  readonly to: string;
};

const cases: readonly Case[] = [
  { name: 'SPY_1M_2013-10-04_07', market: ['stock', 'US'], from: '2013-10-04', to: '2013-10-07' },
  { name: 'GOOG_1M_2015-12-24', market: ['stock', 'US'], from: '2015-12-24', to: '2015-12-24' },
  { name: 'BTCUSD_1M_2018-04-05', market: ['crypto', 'GLOBAL'], from: '2018-04-05', to: '2018-04-05' },
];

function readCsv(path: string): Cells[] {
  const [header = '', ...lines] = readFileSync(path, 'utf8').trim().split(/\r?\n/);
  const columns = header.split(',');
  return lines.map((line) =>
    Object.fromEntries(line.split(',').map((cell, index) => [columns[index]!, cell])),
  );
}

/** The file with the typical price as vwap, as the answers have it. */
function withVwap(rows: readonly Cells[], path: string): void {
  const lines = rows.map((row) => {
    const vwap = (Number(row.high) + Number(row.low) + Number(row.close)) / 3;
    return [row.symbol, row.open_utc, row.open, row.high, row.low, row.close, row.volume, vwap].join();
  });
  writeFileSync(path, ['symbol,datetime,open,high,low,close,volume,vwap', ...lines, ''].join('\n'));
}

type Bar = Readonly<Record<string, string | number | null>>;
type Page = { readonly next: string | null; readonly text: string };

async function readJson(response: Response): Promise<{ bars: Bar[]; page: Page }> {
  const text = await response.text();
  assert.equal(response.status, 200, text);
  const { result } = JSON.parse(text) as {
    result: { count: number; next_page_url: string | null; data: Bar[] };
  };
  assert.equal(result.count, result.data.length);
  return { bars: result.data, page: { next: result.next_page_url, text } };
}

async function readCsvAnswer(response: Response): Promise<{ bars: Bar[]; page: Page }> {
  const text = await response.text();
  assert.equal(response.status, 200, text);
  const [header = '', ...lines] = text.split('\r\n').slice(0, -1);
  const columns = header.split(',');
  const bars = lines.map((line) =>
    Object.fromEntries(line.split(',').map((cell, index) => [columns[index]!, cell === '' ? null : cell])),
  );
  assert.equal(response.headers.get('x-count'), String(bars.length));
  return {
    bars,
    page: { next: /<(.*)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1] ?? null, text },
  };
}

async function walk(url: string, format: 'json' | 'csv'): Promise<Bar[]> {
  const found: Bar[] = [];
  for (let next: string | null = url; next !== null; ) {
    const response: Response = await server.get(next);
    const { bars, page }: { bars: Bar[]; page: Page } = await (format === 'json'
      ? readJson(response)
      : readCsvAnswer(response));
    assert.ok(bars.length > 0, 'a walk has no empty page');
    found.push(...bars);
    next = page.next;
  }
  return found;
}

const exact = ['datetime', 'close_datetime', 'open', 'high', 'low', 'close', 'volume'] as const;

function compare(bars: readonly Bar[], answers: readonly Cells[], what: string): void {
  assert.equal(bars.length, answers.length, `${what}: count`);
  for (const [index, answer] of answers.entries()) {
    const bar = bars[index]!;
    for (const field of exact)
      assert.equal(String(bar[field]), answer[field], `${what}: ${field} of ${answer.datetime}`);
    assert.equal(bar.symbol, answer.symbol);
    assert.equal(bar.interval, answer.interval);
    const expected = Number(answer.vwap);
    assert.ok(
      Math.abs(Number(bar.vwap) - expected) <= Math.abs(expected) * 1e-9,
      `${what}: vwap ${bar.vwap} for ${expected}`,
    );
  }
}

const shop = new Workshop();
let server: LocalServer;

before(async () => {
  server = await LocalServer.open(shop.store);
});
after(async () => {
  await server.close();
  shop.close();
});

for (const { name, market, from, to } of cases) {
  const source = join(sharedData, 'bars', `${name}.csv`);
  test(`${name}: every interval, regular and extended, equals the answers (contract 3)`, async (t) => {
    if (!existsSync(source)) {
      t.skip(`there is no ${source}`);
      return;
    }
    const file = shop.path(`${name}.csv`);
    withVwap(readCsv(source), file);
    await shop.must(
      'import',
      'bars',
      file,
      '--schema',
      market[0],
      '--country',
      market[1],
      '--interval',
      '1M',
    );
    const answers = Map.groupBy(
      readCsv(join(sharedData, 'answers', `${name}.bars.csv`)),
      (row) => `${row.interval} ${row.is_eth}`,
    );
    assert.ok(answers.size > 10);
    for (const [series, rows] of answers) {
      const [interval, isEth] = series.split(' ');
      for (const format of ['json', 'csv'] as const) {
        for (const limit of [7, 1000]) {
          const path = `/api/v2/${market[0]}/bars/${market[1]}:${rows[0]!.symbol}/${interval}/from/${from}/to/${to}`;
          const url = `${server.url}${path}?secret_key=${server.key}&is_eth=${isEth}&limit=${limit}&format=${format}`;
          compare(await walk(url, format), rows, `${series} ${format} limit=${limit}`);
        }
      }
    }
  });
}

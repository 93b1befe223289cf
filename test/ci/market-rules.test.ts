// Stores keep facts alone (contract 3.9): where the rules and zones of all markets change under a full store,
// no stored row differs, and each answer is that of a store which was imported afresh under the new rules.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { DAY_MS, formatInstant, HOUR_MS, MINUTE_MS } from '../../src/base/instant.ts';
import { Random } from '../fuzz/random.ts';
import { clock } from '../golden/checkout.ts';
import { actionsFile, holidaysFile, instrumentsFile } from '../golden/files.ts';
import { seed } from '../seed.ts';
import { Workshop } from '../service.ts';

const otherRules = pathToFileURL(join(import.meta.dirname, 'other-market-rules.ts')).href;
const builtIn = { NODE_OPTIONS: `--import=${clock}` };
const changed = { NODE_OPTIONS: `--import=${clock} --import=${otherRules}` };

/**
 * Instruments of markets with extended hours, a break, an auction, all day, days that end in the evening, and
 * without a calendar.
 */
const names = [
  ['stock', 'US:AAX'],
  ['stock', 'US:BBX'],
  ['stock', 'HK:700'],
  ['stock', 'UK:VOX'],
  ['stock', 'ZA:NPN'],
  ['crypto', 'GLOBAL:BTCUSD'],
  ['forex', 'GLOBAL:EURUSD'],
  ['future', 'US:ESH25'],
] as const;

const random = new Random(seed);

/** Bars round the clock, in UTC: whatever hours a market has, there are some. */
function bars(from: string, to: string, stepMs: number): string {
  const rows = names.flatMap(([schema, name], at) => {
    const [country, symbol] = name.split(':');
    const found: string[] = [];
    for (let ms = Date.parse(from); ms < Date.parse(to); ms += stepMs) {
      // Thin ones too.
      if (!random.chance(at % 3 === 1 ? 0.3 : 0.97)) continue;
      const time = stepMs === DAY_MS ? formatInstant(ms).slice(0, 10) : formatInstant(ms);
      const close = random.between(900, 1_100);
      found.push([schema, country, symbol, time, 1_000, 1_200, 800, close, random.between(1, 99)].join(','));
    }
    return found;
  });
  return `asset_schema,country_iso_code,symbol,datetime,open,high,low,close,volume\n${rows.join('\n')}\n`;
}

/** Imports, each at a moment: some in the middle of a session, some twice. */
const imports: readonly (readonly [at: string, content: string, ...words: string[]])[] = [
  [
    '2025-03-01T00:00:00Z',
    instrumentsFile([
      ['stock', 'US:AAX', 'Alpha', { listing_date: '2025-03-04' }],
      ['stock', 'US:BBX', 'Beta', { listing_date: '1999-01-04' }],
    ]),
    'instruments',
  ],
  [
    '2025-03-12T15:12:00Z',
    bars('2025-03-03T00:00:00Z', '2025-03-12T15:10:00Z', 15 * MINUTE_MS),
    'bars',
    '--interval',
    '15M',
  ],
  [
    '2025-03-15T10:00:00Z',
    bars('2025-03-12T00:00:00Z', '2025-03-15T09:00:00Z', 15 * MINUTE_MS),
    'bars',
    '--interval',
    '15M',
  ],
  [
    '2025-03-15T11:00:00Z',
    bars('2025-02-10T00:00:00Z', '2025-03-14T20:00:00Z', HOUR_MS),
    'bars',
    '--interval',
    '60M',
  ],
  [
    '2025-03-15T12:00:00Z',
    bars('2024-11-01T00:00:00Z', '2025-03-14T00:00:00Z', DAY_MS),
    'bars',
    '--interval',
    'DAY',
  ],
  [
    '2025-03-15T13:00:00Z',
    bars('2024-11-04T00:00:00Z', '2025-02-01T00:00:00Z', 7 * DAY_MS),
    'bars',
    '--interval',
    'WEEK',
  ],
  [
    '2025-03-15T14:00:00Z',
    actionsFile(random, ['AAX', 'BBX'], ['2024-12-02', '2025-02-03'], [['AAX', '2025-03-06', 1, 4]]),
    'corporate-actions',
  ],
  [
    '2025-03-15T15:00:00Z',
    holidaysFile([
      ['US', '*', '2025-03-13', 'CLOSED', null, null],
      ['HK', '*', '2025-03-12', 'EARLY_CLOSE', '2025-03-12T01:30:00Z', '2025-03-12T04:00:00Z'],
    ]),
    'holidays',
  ],
];

type Report = { readonly rowsRead: number; readonly rowsNew: number; readonly refusals: readonly unknown[] };

const ASKED_AT = '2025-03-16T12:00:00Z';

const [before, fresh] = [new Workshop(), new Workshop()];
after(() => {
  before.close();
  fresh.close();
});

async function fill(shop: Workshop, rules: Readonly<Record<string, string>>): Promise<void> {
  for (const [place, [at, content, dataset, ...flags]] of imports.entries()) {
    const file = shop.path(`${place}.csv`);
    writeFileSync(file, content);
    const environment = { ...rules, GOLDEN_CLOCK: at };
    const { stdout } = await shop.runWith(environment, 'import', dataset!, file, ...flags, '--json');
    // No rule refuses a row: what no session has is kept.
    const { rowsRead, rowsNew, refusals } = JSON.parse(stdout) as Report;
    assert.deepEqual([refusals, rowsRead > 0, rowsNew > 0], [[], true, true], stdout);
  }
}

const contentOf = async (shop: Workshop, rules: Readonly<Record<string, string>>): Promise<string> => {
  const environment = { ...rules, GOLDEN_CLOCK: ASKED_AT };
  const { stdout } = await shop.runWith(environment, 'status', '--content-hash', '--json');
  return (JSON.parse(stdout) as { content_hash: string }).content_hash;
};

/** The requests: every interval and judgement of each instrument, and the calendars. */
function* paths(): Generator<string> {
  for (const [schema, name] of names) {
    for (const interval of ['15M', '30M', '60M', '120M', '240M', 'DAY', 'WEEK', 'MON'])
      for (const more of ['', '&is_eth=true', '&as_of=2025-03-13T12:00:00Z'])
        yield `/api/v2/${schema}/bars/${name}/${interval}/from/2024-11-01/to/2025-04-01?limit=1000${more}`;
    for (const interval of ['15M', '60M', 'DAY', 'WEEK']) {
      yield `/api/v2/${schema}/bars/${name}/${interval}/latest?limit=20`;
      yield `/api/v2/${schema}/coverage/${name}?interval=${interval}&from_date=2024-11-01&to_date=2025-03-31&limit=1000`;
    }
    yield `/api/v2/${schema}/findings/${name}?limit=1000`;
    yield `/api/v2/${schema}/reference/${name}`;
    yield `/api/v2/holiday/list?full_symbol=${schema}:${name}&from_date=2025-01-01&to_date=2025-12-31&limit=1000`;
  }
  yield '/api/v2/stock/coverage?limit=1000';
  yield '/api/v2/stock/stock_corporate_action/list/US:AAX?from_date=2000-01-01';
}

/** Values that differ from service to service. */
const own = /"(request_id|next_page_key|next_page_url)":"[^"]*"/g;

/** All answers of a store under some rules. */
async function answersOf(
  shop: Workshop,
  rules: Readonly<Record<string, string>>,
): Promise<Map<string, string>> {
  const environment = { ...rules, GOLDEN_CLOCK: ASKED_AT };
  const { stdout } = await shop.runWith(environment, 'keys', 'create', 'test');
  const server = await shop.serveWith(environment);
  const headers = { authorization: `Bearer ${stdout.trim()}` };
  const found = new Map<string, string>();
  for (const path of paths()) {
    const answer = await server.get(path, { headers });
    found.set(path, `${answer.status} ${(await answer.text()).replaceAll(own, '')}`);
  }
  await server.stop();
  return found;
}

test('under other rules of every market a full store answers as one that was imported under them', async () => {
  await fill(before, builtIn);
  await fill(fresh, changed);
  const content = await contentOf(before, builtIn);
  const [old, now, wanted] = [
    await answersOf(before, builtIn),
    await answersOf(before, changed),
    await answersOf(fresh, changed),
  ];
  for (const [path, answer] of now) assert.equal(answer, wanted.get(path), path);
  // The rules do change most answers, and most are good.
  const differing = [...now].filter(([path, answer]) => answer !== old.get(path)).length;
  assert.ok(differing > now.size / 2, `${differing} of ${now.size} answers differ`);
  const good = [...now.values()].filter((answer) => answer.startsWith('200 ')).length;
  assert.ok(good > 0.9 * now.size, `${good} of ${now.size} answers are good`);
  assert.equal(await contentOf(before, changed), content);
  assert.equal(await contentOf(fresh, changed), content);
});

// CSV that a spreadsheet opens without running any of it (contract 5.1), read by a reader that is not the
// product's.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { Caller, type GotPage } from './asking.ts';
import { parseCsv } from './csv.ts';
import { Workshop } from './service.ts';

const shop = new Workshop();
after(() => shop.close());

/** Texts, and how they stand in a cell with `csv_safe`. */
const texts: readonly (readonly [text: string, safe: string])[] = [
  ['=1+1', "'=1+1"],
  ['+SUM(A1)', "'+SUM(A1)"],
  ['-5', "'-5"],
  ['@cmd', "'@cmd"],
  ['\t=tab', "'\t=tab"],
  ['="a, ""b"""', '\'="a, ""b"""'],
  ['a=b', 'a=b'],
  ["'=already", "'=already"],
  ['1-2', '1-2'],
  // Spreadsheets take the wide signs of East Asian keyboards for the plain ones.
  ...['＝1+1', '＋1', '－1', '＠SUM(A1)'].map((text) => [text, `'${text}`] as const),
  // They drop what stands unseen before a sign.
  ...[
    ' =1+1',
    '   -5',
    '\u00a0=1',
    '\u3000＝1',
    '\ufeff=1',
    '\u200b+1',
    ' \t@x',
    '\r=1',
    '\n-1',
    '\rx',
    '\nx',
    '\tx',
  ].map((text) => [text, `'${text}`] as const),
  ...[' 1-2', '\u3000x', 'a ＝ b', '≠1', '−1', 'x;=1+1', 'x\t=1+1', 'a\n=b'].map(
    (text) => [text, text] as const,
  ),
];
const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const events = texts.map(
  ([text], index) =>
    `US,GDP_${index},${quoted(text)},2025-03-01T14:${String(index).padStart(2, '0')}:00Z,low,-1.5,-2`,
);
const head = 'country_iso_code,event_code,event_name,event_timestamp,impact,actual_value,previous_value';
writeFileSync(shop.path('events.csv'), [head, ...events, ''].join('\n'));
await shop.must('import', 'economic-events', shop.path('events.csv'));
const bars = '2025-03-03T14:30:00Z,2025-03-03T14:31:00Z'.split(',').map((open) => `${open},-1,3,-2,2,7`);
writeFileSync(shop.path('bars.csv'), ['datetime,open,high,low,close,volume', ...bars, ''].join('\n'));
const flags = ['--schema', 'future', '--country', 'US', '--symbol', '@ES', '--interval', '1M'];
await shop.must('import', 'bars', shop.path('bars.csv'), ...flags);
const server = await shop.serve();
const caller = new Caller(server, await shop.must('keys', 'create', 'spreadsheet'));

const EVENTS = 'economic_calendar/event_list';
const BARS = 'future/bars/US:@ES/1M/from/2025-03-01/to/2025-03-04';
const range = { from_date: '2025-03-01', to_date: '2025-03-31', sort: 'asc' };

async function columnOf(name: string, path: string, parameters: Record<string, string>) {
  const response = await caller.ask(path, parameters);
  assert.equal(response.status, 200);
  const [names, ...rows] = parseCsv(await response.text());
  return rows.map((row) => row[names!.indexOf(name)]);
}

test('with csv_safe an apostrophe stands before texts that a spreadsheet would run, and only there (contract 5.1)', async () => {
  const plain = texts.map(([text]) => text);
  const safe = texts.map(([, cell]) => cell);
  assert.deepEqual(await columnOf('event_name', EVENTS, range), plain);
  for (const yes of ['1', 'true', 'YES'])
    assert.deepEqual(await columnOf('event_name', EVENTS, { ...range, csv_safe: yes }), safe);
  assert.deepEqual(await columnOf('event_name', EVENTS, { ...range, csv_safe: '0' }), plain);
  const latest = await columnOf('event_name', 'economic_calendar/latest_event_list', {
    csv_safe: '1',
    limit: '100',
    sort: 'asc',
  });
  assert.deepEqual(latest, safe);
});

test('with csv_safe a text with another separator is quoted: LibreOffice would split it (contract 5.1)', async () => {
  const lineOf = async (parameters: Record<string, string>) =>
    (await (await caller.ask(EVENTS, { ...range, ...parameters })).text())
      .split('\r\n')
      .filter((line) => line.includes('x'));
  const plain = await lineOf({});
  const safe = await lineOf({ csv_safe: '1' });
  for (const text of ['x;=1+1', 'x\t=1+1']) {
    assert.ok(
      plain.some((line) => line.includes(`,${text},`)),
      text,
    );
    assert.ok(
      safe.some((line) => line.includes(`,"${text}",`)),
      text,
    );
  }
});

test('numbers are no texts: one below zero stays as it is (contract 5.1)', async () => {
  const asked = { ...range, csv_safe: '1' };
  assert.deepEqual(new Set(await columnOf('actual_value', EVENTS, asked)), new Set(['-1.5']));
  assert.deepEqual(await columnOf('open', BARS, { format: 'csv', csv_safe: '1' }), ['-1', '-1']);
});

test('bars, too, and CSV in the envelope, and not JSON (contract 5.1, 5.3)', async () => {
  const asked = { format: 'csv', csv_safe: '1' };
  assert.deepEqual(await columnOf('symbol', BARS, asked), ["'@ES", "'@ES"]);
  assert.deepEqual(await columnOf('symbol', BARS, { format: 'csv' }), ['@ES', '@ES']);
  const json = await caller.list(BARS, { csv_safe: '1' });
  assert.equal(json.data[0]!.symbol, '@ES');
  const url = new URL((await caller.ask(BARS, asked)).url);
  const wrapped = await fetch(url, { headers: { accept: 'application/json' } });
  const { result } = (await wrapped.json()) as { result: { data: string } };
  assert.match(result.data, /FUTURE,1M,US,[^,]*,'@ES,2025/);
});

test('the next page repeats csv_safe, and its key holds with and without it (contract 4.1, 4.3)', async () => {
  const asked = { ...range, limit: '2', format: 'csv', csv_safe: '1' };
  const response = await caller.ask(EVENTS, asked);
  await response.text();
  const url = new URL(/<([^>]+)>/.exec(response.headers.get('link')!)![1]!);
  assert.equal(url.searchParams.get('csv_safe'), 'true');
  const [names, row] = parseCsv(await (await fetch(url)).text());
  assert.equal(row![names!.indexOf('event_name')], texts[2]![1]);
  url.searchParams.delete('csv_safe');
  url.searchParams.set('format', 'json');
  const { result } = (await (await fetch(url)).json()) as { result: GotPage };
  assert.equal(result.data[0]!.event_name, texts[2]![0]);
});

test('every endpoint that has CSV takes it, and refuses what is neither yes nor no (contract 5.1, 4.4)', async () => {
  const paths = [
    BARS,
    'future/bars/US:@ES/1M/latest',
    'stock/stock_corporate_action/list/US:AAPL?from_date=2020-01-01',
    'holiday/list?full_symbol=stock:US:*',
    EVENTS,
    'economic_calendar/latest_event_list',
  ];
  for (const path of paths) {
    const [bare, query = ''] = path.split('?');
    const { detail } = await caller.refused(bare!, {
      ...Object.fromEntries(new URLSearchParams(query)),
      csv_safe: 'maybe',
    });
    assert.deepEqual([detail.error, detail.param], ['invalid_parameter', 'csv_safe'], path);
  }
});

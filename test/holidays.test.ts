// Holidays from file to wire: the list and the codes (spec 4.8, 4.9, contract 8.6), imports of an operator's
// own, and what they do to bars.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { LocalServer } from './local-server.ts';
import { sharedData, Workshop } from './service.ts';

const shop = new Workshop();
const named = '--schema stock --country US --symbol X --interval 1M'.split(' ');
let server: LocalServer;
let key = '';
before(async () => {
  await imported('bars.csv', 'bars', minutes());
  server = await LocalServer.open(shop.store);
  ({ key } = server);
});
after(async () => {
  await server.close();
  shop.close();
});

/** A minute at each end of the regular hours of three days in March 2025. */
function minutes(): string {
  const times = ['14:30', '15:00', '17:59', '18:00', '20:59', '21:30'];
  const lines = ['03', '04', '05'].flatMap((day) =>
    times.map((time) => `2025-03-${day}T${time}:00Z,1,2,0.5,1.5,10`),
  );
  return ['datetime,open,high,low,close,volume', ...lines, ''].join('\n');
}

async function imported(name: string, dataset: string, text: string): Promise<string> {
  const file = shop.path(name);
  writeFileSync(file, text);
  return shop.must('import', dataset, file, ...(dataset === 'bars' ? named : []));
}

const head = 'name,holiday_code,calendar_date,asset_name,country_iso_code,symbol,session_template';

function ask(path: string, query: Readonly<Record<string, string>> = {}): Promise<Response> {
  const text = new URLSearchParams({ ...query, secret_key: key }).toString();
  return server.get(`/api/v2/${path}?${text}`);
}

type Day = Readonly<Record<string, string | number | null>>;
type Result = { count: number; next_page_key: string | null; next_page_url: string | null; data: Day[] };

async function list(fullSymbol: string, query: Readonly<Record<string, string>> = {}): Promise<Result> {
  const response = await ask('holiday/list', { full_symbol: fullSymbol, format: 'json', ...query });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return (JSON.parse(text) as { result: Result }).result;
}

const ofYear = (year: number) => ({ from_date: `${year}-01-01`, to_date: `${year}-12-31` });

test("a market's days of a year, with the instants of those that are shortened (spec 2.8, contract 8.6)", async () => {
  const { data, count } = await list('stock:US:*', ofYear(2024));
  assert.equal(count, data.length);
  assert.deepEqual(data[0], {
    name: "New Year's Day",
    holiday_code: 'HOLIDAY_NEW_YEAR',
    calendar_date: '2024-01-01',
    asset_name: 'stock',
    country_iso_code: 'US',
    symbol: '*',
    priority: 0,
    session_template: 'CLOSED',
    open_timestamp: null,
    close_timestamp: null,
  });
  assert.deepEqual(
    Object.keys(data[0]!).join(),
    `${head.replace(',session_template', '')},priority,session_template,open_timestamp,close_timestamp`,
  );
  const short = data.find((day) => day.calendar_date === '2024-07-03')!;
  assert.deepEqual(
    [short.session_template, short.open_timestamp, short.close_timestamp],
    ['EARLY_CLOSE', '2024-07-03T13:30:00+00:00', '2024-07-03T17:00:00+00:00'],
  );
});

test('CSV is the default: the same rows in the same order (spec 4.8, contract 5.1)', async () => {
  const response = await ask('holiday/list', { full_symbol: 'stock:US:*', ...ofYear(2024) });
  assert.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8; header=present');
  const lines = (await response.text()).split('\r\n');
  const { data } = await list('stock:US:*', ofYear(2024));
  assert.equal(lines.pop(), '');
  assert.equal(lines[0], Object.keys(data[0]!).join());
  const cells = data.map((day) =>
    Object.values(day)
      .map((value) => value ?? '')
      .join(),
  );
  assert.deepEqual(lines.slice(1), cells);
});

test('pages follow each other both ways, without a date twice (contract 4.1, 4.2, 4.5)', async () => {
  const whole = (await list('stock:US:*', { ...ofYear(2024), limit: '1001' })).data;
  for (const sort of ['asc', 'desc']) {
    const walked: Day[] = [];
    let page = await list('stock:US:*', { ...ofYear(2024), sort, limit: '4' });
    for (;;) {
      walked.push(...page.data);
      if (page.next_page_url === null) break;
      page = ((await (await server.get(page.next_page_url)).json()) as { result: Result }).result;
    }
    assert.deepEqual(walked, sort === 'asc' ? whole : [...whole].reverse());
  }
});

test('a page key belongs to its filters (contract 4.1)', async () => {
  const { next_page_key: next } = await list('stock:US:*', { limit: '1' });
  const response = await ask('holiday/list', { full_symbol: 'stock:UK:*', next_page_key: next! });
  assert.equal(response.status, 400);
  assert.match(await response.text(), /invalid_page_key/);
});

test('a code picks its days, one that holds none gives none (spec 4.8, contract 6.3)', async () => {
  const { data } = await list('stock:US:*', { ...ofYear(2024), holiday_code: 'HOLIDAY_THANKSGIVING' });
  assert.deepEqual(
    data.map((day) => day.calendar_date),
    ['2024-11-28', '2024-11-29'],
  );
  assert.equal((await list('stock:US:*', { holiday_code: 'HOLIDAY_NONE' })).count, 0);
});

test('options list the days of their underlying market, markets that never close none (contract 8.6)', async () => {
  const days = (result: Result) => result.data.map((day) => day.calendar_date);
  assert.deepEqual(days(await list('option:US:*')), days(await list('stock:US:*')));
  for (const market of ['crypto:GLOBAL:*', 'forex:GLOBAL:*', 'stock:GLOBAL:*'])
    assert.equal((await list(market)).count, 0, market);
});

test('a concrete symbol has its market’s days; one that nothing names is a 404 with near ones (contract 6.3, 8.6)', async () => {
  assert.deepEqual(
    (await list('stock:US:X', ofYear(2024))).data,
    (await list('stock:US:*', ofYear(2024))).data,
  );
  const response = await ask('holiday/list', { full_symbol: 'stock:US:XY' });
  assert.equal(response.status, 404);
  assert.match(await response.text(), /is not stored.*unknown_instrument.*Did you mean stock:US:X/);
});

test('from_date after to_date is a 400 (contract 2.2)', async () => {
  const response = await ask('holiday/list', {
    full_symbol: 'stock:US:*',
    from_date: '2024-02-01',
    to_date: '2024-01-01',
  });
  assert.equal(response.status, 400);
});

test('the codes of a country, each with what it means (spec 2.9, 4.9)', async () => {
  const response = await ask('holiday/holiday_codes/us');
  const { result } = (await response.json()) as { result: Record<string, string> };
  const wanted =
    'NEW_YEAR MLK_DAY PRESIDENTS_DAY GOOD_FRIDAY MEMORIAL_DAY JUNETEENTH INDEPENDENCE_DAY LABOR_DAY THANKSGIVING CHRISTMAS_EVE CHRISTMAS NATIONAL_DAY_OF_MOURNING';
  for (const code of wanted.split(' ')) assert.ok(result[`HOLIDAY_${code}`], code);
  assert.ok(Object.entries(result).every(([code, text]) => code.startsWith('HOLIDAY_') && text !== ''));
  const none = (await (await ask('holiday/holiday_codes/ZZ')).json()) as { result: object };
  assert.deepEqual(none.result, {});
});

const bars = async (query: Readonly<Record<string, string>> = {}): Promise<string[]> => {
  const response = await ask('stock/bars/US:X/1M/from/2025-03-03/to/2025-03-05', {
    format: 'json',
    ...query,
  });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  const { result } = JSON.parse(text) as { result: { data: { datetime: string }[] } };
  return result.data.map(({ datetime }) => datetime.slice(8, 16));
};

test("an operator's days change the list and the bars with the next request on every worker (contract 3.4, 8.6)", async () => {
  assert.equal((await bars()).length, 15);
  await imported(
    'own.csv',
    'holidays',
    [
      `${head},close_timestamp`,
      'Network down,HOLIDAY_OWN,2025-03-04,stock,US,*,CLOSED,',
      'Half a day,HOLIDAY_OWN,2025-03-05,stock,US,*,EARLY_CLOSE,2025-03-05T18:00:00Z',
      '',
    ].join('\n'),
  );
  // Connections fall on either worker.
  const answers = await Promise.all(Array.from({ length: 20 }, () => bars()));
  const expected = [
    '03T14:30',
    '03T15:00',
    '03T17:59',
    '03T18:00',
    '03T20:59',
    '05T14:30',
    '05T15:00',
    '05T17:59',
  ];
  for (const answer of answers) assert.deepEqual(answer, expected);
  assert.deepEqual(
    (await bars({ is_eth: 'true' })).slice(-3),
    ['05T18:00', '05T20:59', '05T21:30'],
    'the post-market runs from 13:00 to 17:00 (contract 3.4)',
  );
  const { data } = await list('stock:US:*', ofYear(2025));
  const own = data.filter((day) => day.holiday_code === 'HOLIDAY_OWN');
  assert.deepEqual(
    own.map((day) => [day.calendar_date, day.session_template, day.priority, day.close_timestamp]),
    [
      ['2025-03-04', 'CLOSED', 1, null],
      ['2025-03-05', 'EARLY_CLOSE', 1, '2025-03-05T18:00:00+00:00'],
    ],
  );
  const { result } = (await (await ask('holiday/holiday_codes/US')).json()) as {
    result: Record<string, string>;
  };
  assert.equal(result.HOLIDAY_OWN, 'Network down');
});

test('local times of a file are read by --zone, refused without it or where the zone skips them (contract 2.5, 11)', async () => {
  const file = shop.path('local.csv');
  const lines = [
    `${head},close_timestamp`,
    'Half,HOLIDAY_LOCAL,2026-07-06,stock,US,*,EARLY_CLOSE,2026-07-06 13:00:00',
    'Half,HOLIDAY_LOCAL,2026-12-07,stock,US,*,EARLY_CLOSE,2026-12-07T13:00:00',
    'Half,HOLIDAY_LOCAL,2026-03-09,stock,US,*,EARLY_CLOSE,2026-03-08T02:30:00',
    'Half,HOLIDAY_LOCAL,2026-12-08,stock,US,*,EARLY_CLOSE,2026-12-08T12:00:00-05:00',
  ];
  writeFileSync(file, lines.join('\n'));
  const bare = await shop.run('import', 'holidays', file, '--dry-run');
  assert.equal(bare.status, 1);
  assert.match(
    bare.stdout,
    /close_timestamp: must be an instant with its offset.*for local times give --zone/,
  );
  const zoned = await shop.run('import', 'holidays', file, '--zone', 'America/New_York');
  assert.match(zoned.stdout, /3 new.* 1 refused/);
  assert.match(zoned.stdout, /data row 3, column close_timestamp: .*a local time that the zone has/);
  const { data } = await list('stock:US:*', { ...ofYear(2026), holiday_code: 'HOLIDAY_LOCAL' });
  assert.deepEqual(
    data.map((day) => day.close_timestamp),
    ['2026-07-06T17:00:00+00:00', '2026-12-07T18:00:00+00:00', '2026-12-08T17:00:00+00:00'],
  );
});

test('REGULAR cancels a day, and the highest priority wins (contract 8.6)', async () => {
  await imported(
    'cancel.csv',
    'holidays',
    [
      `${head},priority`,
      'On again,HOLIDAY_OWN,2025-03-04,stock,US,*,REGULAR,2',
      'Open after all,HOLIDAY_CHRISTMAS,2025-12-25,stock,US,*,REGULAR,',
      '',
    ].join('\n'),
  );
  assert.ok((await bars()).includes('04T14:30'));
  const dates = (await list('stock:US:*', ofYear(2025))).data.map((day) => day.calendar_date);
  assert.ok(!dates.includes('2025-03-04') && !dates.includes('2025-12-25'));
});

test('days of one instrument are its own alone (contract 8.6)', async () => {
  await imported('halt.csv', 'holidays', `${head}\nHalt,HOLIDAY_HALT,2025-03-03,stock,US,X,CLOSED\n`);
  assert.ok(!(await bars()).some((open) => open.startsWith('03')));
  const halts = async (symbol: string) =>
    (await list(`stock:US:${symbol}`, { ...ofYear(2025), holiday_code: 'HOLIDAY_HALT' })).data;
  assert.deepEqual(await halts('*'), []);
  assert.equal((await halts('X'))[0]?.symbol, 'X');
});

test('an import of days can be repeated, corrected and taken back (contract 10, 11)', async () => {
  const day = (code: string) => `${head}\nOne,${code},2026-03-03,stock,UK,*,CLOSED\n`;
  assert.match(await imported('one.csv', 'holidays', day('HOLIDAY_ONE')), / 1 new/);
  assert.match(await imported('one.csv', 'holidays', day('HOLIDAY_ONE')), / 0 new, 0 replaced, 1 unchanged/);
  const report = await imported('two.csv', 'holidays', day('HOLIDAY_TWO'));
  const code = async () =>
    (await list('stock:UK:*', ofYear(2026))).data.find((found) => found.calendar_date === '2026-03-03')
      ?.holiday_code;
  assert.equal(await code(), 'HOLIDAY_TWO');
  const undone = await shop.must('undo', /run (\d+)/.exec(report)![1]!);
  assert.match(undone, /1 row restored/);
  assert.equal(await code(), 'HOLIDAY_ONE');
});

test('a shortened day that ships can be corrected to a later hour, or a closing to half a day (contract 8.6)', async () => {
  const short = [
    '2023-12-22,stock,UK,*,EARLY_CLOSE,2023-12-22T14:00:00Z',
    '2023-12-26,stock,UK,*,EARLY_CLOSE,2023-12-26T12:00:00Z',
  ];
  const lines = short.map((cells) => `Half a day,HOLIDAY_HALF,${cells}`);
  assert.match(
    await imported('later.csv', 'holidays', [`${head},close_timestamp`, ...lines, ''].join('\n')),
    / 2 new/,
  );
  const { data } = await list('stock:UK:*', { holiday_code: 'HOLIDAY_HALF' });
  assert.deepEqual(
    data.map((day) => [day.session_template, day.open_timestamp, day.close_timestamp]),
    [
      ['EARLY_CLOSE', '2023-12-22T08:00:00+00:00', '2023-12-22T14:00:00+00:00'],
      ['EARLY_CLOSE', '2023-12-26T08:00:00+00:00', '2023-12-26T12:00:00+00:00'],
    ],
  );
});

test('what the list gives can be imported as it is (contract 8.6, 11)', async () => {
  const query = { full_symbol: 'stock:US:*', from_date: '2001-09-01', to_date: '2001-12-31' };
  const text = await (await ask('holiday/list', query)).text();
  assert.match(text, /LATE_OPEN/);
  assert.match(await imported('list.csv', 'holidays', text), / 0 refused/);
  assert.equal(await (await ask('holiday/list', query)).text(), text);
});

test("an import of bars judges them by the same days: options by their underlying market's (contract 3.7, 3.10)", async () => {
  await imported('closed.csv', 'holidays', `${head}\nOne,HOLIDAY_ONE,2025-03-04,stock,SG,*,CLOSED\n`);
  const file = shop.path('option.csv');
  writeFileSync(file, 'datetime,open,high,low,close\n2025-03-04T04:00:00Z,1,2,0.5,1.5\n');
  const flags = '--schema option --country SG --symbol X250919C00450000 --interval 1M'.split(' ');
  assert.match(await shop.must('import', 'bars', file, ...flags), /outside every session.*: 1 bar/);
});

test('a file gives the date from which a day was known, and its export too; a date after the day is refused (contract 9.8, 11)', async () => {
  const rows = [
    'Storm,HOLIDAY_STORM,2025-05-06,stock,UK,*,CLOSED,2025-05-05',
    'Storm,HOLIDAY_STORM,2025-05-07,stock,UK,*,CLOSED,2025-05-07',
    'Storm,HOLIDAY_STORM,2025-05-08,stock,UK,*,CLOSED,',
  ];
  assert.match(
    await imported('storm.csv', 'holidays', [`${head},announced`, ...rows, ''].join('\n')),
    / 3 new/,
  );
  const at = async (asOf: string) =>
    (await list('stock:UK:*', { ...ofYear(2025), holiday_code: 'HOLIDAY_STORM', as_of: asOf })).data.map(
      (day) => day.calendar_date,
    );
  // The clocks of London are an hour before UTC in May.
  assert.deepEqual(await at('2025-05-04T22:59:59Z'), ['2025-05-08']);
  assert.deepEqual(await at('2025-05-04T23:00:00Z'), ['2025-05-06', '2025-05-08']);
  assert.deepEqual(await at('2025-05-06T23:00:00Z'), ['2025-05-06', '2025-05-07', '2025-05-08']);
  const file = shop.path('own-days.csv');
  await shop.must('export', 'holidays', '--country', 'UK', '--schema', 'stock', '--out', file);
  assert.match(readFileSync(file, 'utf8'), /announced.*2025-05-06,.*2025-05-05/s);
  const late = shop.path('late.csv');
  writeFileSync(late, `${head},announced\nStorm,HOLIDAY_STORM,2025-06-03,stock,UK,*,CLOSED,2025-06-04\n`);
  const refused = await shop.run('import', 'holidays', late);
  assert.equal(refused.status, 1);
  assert.match(refused.stdout, /column announced: .*must not be after calendar_date/);
});

const refusals: readonly (readonly [cells: string, problem: RegExp])[] = [
  ['A,CHRISTMAS,2025-01-02,stock,US,*,CLOSED,,', /holiday_code: must begin with HOLIDAY_/],
  ['A,HOLIDAY_A,2025-02-30,stock,US,*,CLOSED,,', /calendar_date: must be a date/],
  ['A,HOLIDAY_A,2025-01-02,option,US,*,CLOSED,,', /asset_name: .*options keep the days of their underlying/],
  ['A,HOLIDAY_A,2025-01-02,stock,USA,*,CLOSED,,', /country_iso_code: must be a two-letter code/],
  [
    'A,HOLIDAY_A,2025-01-02,stock,US,*,HALF,,',
    /session_template: must be CLOSED, EARLY_CLOSE, LATE_OPEN, REGULAR/,
  ],
  ['A,HOLIDAY_A,2025-01-02,stock,US,*,EARLY_CLOSE,,', /close_timestamp: is missing: EARLY_CLOSE needs it/],
  ['A,HOLIDAY_A,2025-01-02,stock,US,*,CLOSED,,2025-01-02T18:00:00Z', /close_timestamp: must be empty/],
  [
    'A,HOLIDAY_A,2025-01-02,stock,US,*,EARLY_CLOSE,,2025-01-02T13:00:00',
    /close_timestamp: must be an instant with its offset/,
  ],
  [
    'A,HOLIDAY_A,2025-01-02,stock,US,*,EARLY_CLOSE,,2025-01-03T18:00:00Z',
    /does not shorten the session of that day, 2025-01-02T14:30/,
  ],
  [
    'A,HOLIDAY_A,2025-01-02,stock,US,*,LATE_OPEN,2025-01-02T15:00:30Z,',
    /open_timestamp: must be an instant with its offset on a whole minute/,
  ],
  [
    'A,HOLIDAY_A,2025-12-25,stock,US,*,EARLY_CLOSE,,2025-12-25T22:00:00Z',
    /does not shorten the session of that day, 2025-12-25T14:30/,
  ],
  [
    'A,HOLIDAY_A,2025-01-04,stock,US,*,EARLY_CLOSE,,2025-01-04T18:00:00Z',
    /calendar_date: .*no session on that weekday/,
  ],
  [',HOLIDAY_A,2025-01-02,stock,US,*,CLOSED,,', /name: is missing/],
];
test('each row that cannot be is refused with its column and its reason (contract 11)', async () => {
  const file = shop.path('refused.csv');
  writeFileSync(
    file,
    [`${head},open_timestamp,close_timestamp`, ...refusals.map(([cells]) => cells), ''].join('\n'),
  );
  const { status, stdout } = await shop.run('import', 'holidays', file);
  assert.equal(status, 1);
  const told = stdout.split('\n').filter((line) => line.includes('data row'));
  refusals.forEach(([cells, problem], index) => {
    assert.match(told[index] ?? '', problem, cells);
  });
});

const shared = join(sharedData, 'calendars/holidays_2024_2026.csv');
const skip = existsSync(shared) ? false : `${shared} is not there`;
test('2024 to 2026 are as exchanges kept them, in every market, kinds and instants included (contract 8.6)', {
  skip,
}, async () => {
  const [header = '', ...lines] = readFileSync(shared, 'utf8').trim().split(/\r?\n/);
  const columns = header.split(',');
  const rows = lines.map((line) => {
    // Names may be quoted: the columns before and behind them are not.
    const cells = line.split(',');
    return new Map(
      columns.map((column, index) => [column, index < 5 ? cells[index]! : cells.at(index - columns.length)!]),
    );
  });
  const countries = new Set(rows.map((row) => row.get('country_iso_code')!));
  assert.equal(countries.size, 11);
  for (const country of countries) {
    const { data } = await list(`stock:${country}:*`, {
      from_date: '2024-01-01',
      to_date: '2026-12-31',
      limit: '1001',
    });
    const ours = data
      .filter((day) => day.priority === 0)
      .map((day) =>
        [
          day.calendar_date,
          String(day.session_template).toLowerCase(),
          ...[day.open_timestamp, day.close_timestamp].map((at) =>
            at === null ? '' : Date.parse(at as string),
          ),
        ].join(' '),
      );
    const theirs = rows
      .filter((row) => row.get('country_iso_code') === country)
      .map((row) =>
        [
          row.get('calendar_date'),
          row.get('kind'),
          ...['open_utc', 'close_utc'].map((column) =>
            row.get(column) === '' ? '' : Date.parse(row.get(column)!),
          ),
        ].join(' '),
      );
    // What the tests above cancelled and replaced is the operator's.
    const touched = country === 'US' ? ['2025-12-25 closed'] : [];
    assert.deepEqual(
      ours,
      theirs.filter((day) => !touched.some((own) => day.startsWith(own))),
      country,
    );
  }
});

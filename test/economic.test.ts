// The economic calendar from file to wire: lists, one event, codes, changes worked out, imports (spec 2.11,
// 4.12-4.14, contract 8.7, 8.8, 9.1).
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { importFile } from '../src/imports/load/importers.ts';
import type { ImportReport } from '../src/imports/load/run.ts';
import { openStore } from '../src/store/engines.ts';
import { Caller, type Got } from './asking.ts';
import { cellsOf, parseCsv } from './csv.ts';
import { opened } from './importing.ts';
import { LocalServer } from './local-server.ts';
import { fc, times as tries } from './seed.ts';
import { Workshop } from './service.ts';

const shop = new Workshop();
let server: LocalServer;
let caller: Caller;
const LIST = 'economic_calendar/event_list';
const EVENT = 'economic_calendar/event';
const LATEST = 'economic_calendar/latest_event_list';
const CODES = 'economic_calendar/event_codes';
const head = 'country_iso_code,event_code,event_name,event_timestamp';
const json = { format: 'json' };

type EventDataset = 'economic-events' | 'economic-event-codes';

/** Imports a text as a file. */
async function imported(name: string, dataset: EventDataset, text: string): Promise<ImportReport> {
  const path = shop.path(name);
  writeFileSync(path, text);
  const store = await openStore(shop.store, 'write');
  const file = await opened(path);
  const request = { file, flags: new Map<string, string>(), zone: null, source: null };
  try {
    return await importFile(store, dataset, { ...request, dryRun: false, nowMs: () => NOW_MS });
  } finally {
    await file.close();
    await store.close();
  }
}

const HOUR_MS = 3_600_000;
const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
const wireTime = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');

/** Events of ZA and ZB at few instants before and after now, so that many fall together. */
type Made = {
  country: string;
  code: string;
  name: string;
  ms: number;
  importance: number | null;
  id: string;
};
/** The clock of the service. */
const NOW_MS = Date.parse('2025-03-05T12:00:00Z');
const made: readonly Made[] = Array.from({ length: 120 }, (_, index) => ({
  country: ['ZA', 'ZB'][index % 2]!,
  code: ['GDP_ONE', 'GDP_TWO', 'TRADE_ONE'][index % 3]!,
  name: `Event ${index}`,
  ms: NOW_MS + (((index * 7) % 25) - 12) * 6 * HOUR_MS + HOUR_MS / 2,
  importance: [null, 1, 2, 3][Math.floor(index / 5) % 4]!,
  id: digest(`made ${index}`),
}));

function madeCsv(): string {
  const rows = made.map((event) =>
    [event.country, event.code, event.name, wireTime(event.ms), event.importance ?? '', event.id].join(),
  );
  return [`${head},importance,source_id`, ...rows, ''].join('\n');
}

before(async () => {
  await imported('made.csv', 'economic-events', madeCsv());
  server = await LocalServer.open(shop.store, () => NOW_MS);
  caller = new Caller(server, server.key);
});
after(async () => {
  await server.close();
  shop.close();
});

/** By time, then the weightier, then by code, then by identifier. */
function inOrder(a: Made, b: Made): number {
  const texts = (x: string, y: string): number => (x < y ? -1 : x > y ? 1 : 0);
  return (
    a.ms - b.ms || (b.importance ?? 0) - (a.importance ?? 0) || texts(a.code, b.code) || texts(a.id, b.id)
  );
}

const namesOf = (found: readonly Got[]): unknown[] => found.map((event) => event.event_name);
const names = (events: readonly Made[]): string[] => events.map((event) => event.name);

const impacts = [null, 'low', 'medium', 'high'] as const;
const filterSets: readonly Readonly<Record<string, string>>[] = [
  { country_iso_code: 'za' },
  { event_code: 'gdp_one' },
  { country_iso_code: 'ZB', event_code: 'TRADE_ONE' },
  { country_iso_code: 'ZA', impact: 'high' },
  { event_code: 'GDP_TWO', impact: 'LOW' },
  { country_iso_code: 'ZB', event_code: 'GDP_ONE', impact: 'medium' },
  { impact: 'medium' },
  { impact: 'all', country_iso_code: 'ZA' },
  { source_id: made[3]!.id.toUpperCase() },
  { source_id: made[3]!.id, country_iso_code: made[3]!.country === 'ZA' ? 'ZB' : 'ZA' },
];

/** The made events that filters let through: none of others has their country or codes. */
function heldBy(filters: Readonly<Record<string, string>>): Made[] {
  const { country_iso_code: country, event_code: code, impact = 'all', source_id: id } = filters;
  return made
    .filter((event) => country === undefined || event.country === country.toUpperCase())
    .filter((event) => code === undefined || event.code === code.toUpperCase())
    .filter(
      (event) => impact.toLowerCase() === 'all' || impacts[event.importance ?? 0] === impact.toLowerCase(),
    )
    .filter((event) => id === undefined || event.id === id.toLowerCase())
    .sort(inOrder);
}

test('an event has every field of the specification in its order, nulls where nothing is known (spec 2.11)', async () => {
  await imported(
    'one.csv',
    'economic-events',
    `${head},actual_value,previous_value,forecast_value,period,unit,importance,event_driven_type\n` +
      'US,EMPLOYMENT_NFP_HEADLINE,Nonfarm payrolls,2024-08-02T08:30:00-04:00,114,206,,Jul,thousand,3,time_driven\n',
  );
  const { data } = await caller.list(LIST, { ...json, country_iso_code: 'us', from_date: '2024-08-02' });
  assert.deepEqual(Object.entries(data[0]!), [
    ['country_iso_code', 'US'],
    ['event_code', 'EMPLOYMENT_NFP_HEADLINE'],
    ['event_name', 'Nonfarm payrolls'],
    ['event_driven_type', 'time_driven'],
    ['importance', 3],
    ['impact', 'high'],
    ['event_timestamp', '2024-08-02T12:30:00Z'],
    ['actual_value', 114],
    ['previous_value', 206],
    ['forecast_value', null],
    ['change', -92],
    ['change_percent', -44.6602],
    ['period', 'Jul'],
    ['unit', 'thousand'],
    ['source_id', data[0]!.source_id],
  ]);
  assert.match(String(data[0]!.source_id), /^[0-9a-f]{64}$/);
});

test('lists keep filters and order in any letter case, page by page and both ways (spec 4.12, contract 4.1, 4.5, 9.1)', async () => {
  for (const filters of filterSets) {
    const expected = names(heldBy(filters));
    for (const sort of ['asc', 'desc'] as const) {
      const walked = await caller.walk(LIST, {
        ...json,
        ...filters,
        sort,
        limit: '7',
        from_date: wireTime(made.reduce((least, { ms }) => Math.min(least, ms), Number.POSITIVE_INFINITY)),
      });
      const wanted = sort === 'asc' ? expected : [...expected].reverse();
      assert.deepEqual(namesOf(walked), wanted, JSON.stringify([filters, sort]));
    }
  }
});

test('bounds count both ends; a date is a UTC day, a time without an offset UTC (contract 2.2, 2.3)', async () => {
  const times = ['2019-03-03T23:59:59', '2019-03-04T00:00:00', '2019-03-04T23:59:59', '2019-03-05T00:00:00'];
  const rows = times.map((time) => `ZC,GDP_A,${time},${time}Z`);
  await imported('bounds.csv', 'economic-events', [head, ...rows, ''].join('\n'));
  const between = async (from_date: string, to_date: string) =>
    namesOf((await caller.list(LIST, { ...json, country_iso_code: 'ZC', from_date, to_date })).data);
  assert.deepEqual(await between('2019-03-04', '2019-03-04'), times.slice(1, 3));
  assert.deepEqual(await between('2019-03-04 00:00:00', '2019-03-05T00:00:00Z'), times.slice(1));
  assert.deepEqual(await between('2019-03-04T08:00:00+08:00', '2019-03-04T00:00:00'), [times[1]]);
  assert.deepEqual(await between('2019-03-04T23:59:59', '2019-03-04'), [times[2]]);
  const { message, detail } = await caller.refused(LIST, {
    from_date: '2019-03-05',
    to_date: '2019-03-04T23:59:59',
  });
  assert.deepEqual([detail.error, detail.param], ['invalid_parameter', 'from_date']);
  assert.match(message, /2019-03-05 is later than 2019-03-04T23:59:59/);
});

test('CSV is the default: the same rows in the same order, whatever stands in them (spec 4.12, contract 5.1)', async () => {
  const texts = ['a,b', 'say "x"', 'two\nlines', '=1+1', '\u202eright to left', '\u{1f4c8} chart', "'", '-3'];
  const rows = texts.map((name, index) => ({
    country_iso_code: 'ZD',
    event_code: `GDP_${index}`,
    event_name: name,
    event_timestamp: `2020-01-0${index + 1}T00:00:00Z`,
    actual_value: [1e21, 0.1, -0.25, 1e-7, 0, 100, 1.5, 12345.6789][index],
    unit: name,
  }));
  await imported('texts.json', 'economic-events', JSON.stringify(rows));
  for (const [path, query] of [
    [LIST, { country_iso_code: 'ZD', sort: 'desc' }],
    [LATEST, { country_iso_code: 'ZD', limit: '100' }],
  ] as const) {
    const { data } = await caller.list(path, { ...json, ...query });
    const valuesOf = (of: readonly Readonly<Record<string, unknown>>[]): Set<string> =>
      new Set(of.map((event) => JSON.stringify([event.event_name, event.actual_value])));
    assert.equal(data.length, rows.length);
    assert.deepEqual(valuesOf(data), valuesOf(rows));
    const response = await caller.ask(path, query);
    assert.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8; header=present');
    const [header, ...cells] = parseCsv(await response.text());
    assert.deepEqual(header, Object.keys(data[0]!));
    assert.deepEqual(cells, data.map(cellsOf));
  }
});

// Worked out by hand, as decimals on paper have them.
const changes: readonly (readonly [
  actual: string,
  previous: string,
  change: number | null,
  percent: number | null,
])[] = [
  ['0.3', '0.1', 0.2, 200],
  ['3.1', '3.3', -0.2, -6.0606],
  ['-0.4', '-0.2', -0.2, -100],
  ['0.2', '-0.4', 0.6, 150],
  ['1.005', '1', 0.005, 0.5],
  ['3', '0', 3, null],
  ['0', '5', -5, -100],
  ['', '5', null, null],
  ['5', '', null, null],
  ['100.00005', '100', 0.00005, 0.0001],
  ['99.99995', '100', -0.00005, -0.0001],
  ['100.00004', '100', 0.00004, 0],
  ['123456789012.345', '123456789012.344', 0.001, 0],
  ['1e308', '-1e308', null, 200],
  ['1e308', '1e-300', 1e308, null],
];

test('a change that the file does not give is worked out in exact decimals (contract 8.7)', async () => {
  const rows = changes.map(
    ([actual, previous], index) =>
      `ZE,GDP_${index},${index},2021-01-01T00:00:${10 + index}Z,${actual},${previous}`,
  );
  await imported(
    'changes.csv',
    'economic-events',
    [`${head},actual_value,previous_value`, ...rows, ''].join('\n'),
  );
  const { data } = await caller.list(LIST, { ...json, country_iso_code: 'ZE' });
  assert.deepEqual(
    data.map((event) => [event.change, event.change_percent]),
    changes.map(([, , change, percent]) => [change, percent]),
  );
});

test("a file's own change wins, each for itself (contract 8.7)", async () => {
  await imported(
    'own.csv',
    'economic-events',
    `${head},actual_value,previous_value,change,change_percent\nZF,GDP_A,a,2021-01-01T00:00:00Z,3,2,7,\nZF,GDP_B,b,2021-01-01T00:00:00Z,3,2,,0\n`,
  );
  const { data } = await caller.list(LIST, { ...json, country_iso_code: 'ZF' });
  assert.deepEqual(
    data.map((event) => [event.change, event.change_percent]),
    [
      [7, 50],
      [1, 0],
    ],
  );
});

test('importance and impact give each other, and may not disagree (contract 8.7)', async () => {
  const { refused } = await imported(
    'weights.csv',
    'economic-events',
    `${head},importance,impact\nZG,GDP_A,a,2021-01-01T00:00:00Z,,HIGH\nZG,GDP_B,b,2021-01-01T00:00:00Z,2,\nZG,GDP_C,c,2021-01-01T00:00:00Z,1,low\nZG,GDP_D,d,2021-01-01T00:00:00Z,,\nZG,GDP_E,e,2021-01-01T00:00:00Z,1,high\n`,
  );
  assert.deepEqual(
    refused.map(({ row, column }) => [row, column]),
    [[5, 'impact']],
  );
  assert.match(refused[0]!.reason, /does not go with importance/);
  const { data } = await caller.list(LIST, { ...json, country_iso_code: 'ZG' });
  assert.deepEqual(
    data.map((event) => [event.event_name, event.importance, event.impact]),
    [
      ['a', 3, 'high'],
      ['b', 2, 'medium'],
      ['c', 1, 'low'],
      ['d', null, null],
    ],
  );
});

test('an event that is put off keeps its identifier; without a period its time tells it (contract 8.7)', async () => {
  const [row, idOf] = [
    (time: string, period: string) => `${head},period\nZH,GDP_A,a,${time},${period}\n`,
    async () =>
      (await caller.list(LIST, { ...json, country_iso_code: 'ZH' })).data.map((event) => event.source_id),
  ];
  await imported('h1.csv', 'economic-events', row('2021-03-01T08:00:00Z', 'Jan'));
  const [first] = await idOf();
  const report = await imported('h2.csv', 'economic-events', row('2021-03-09T08:00:00Z', 'Jan'));
  assert.equal(report.rowsWritten, 1);
  assert.deepEqual(await idOf(), [first]);
  await imported('h3.csv', 'economic-events', row('2022-03-09T08:00:00Z', 'Jan'));
  await imported('h4.csv', 'economic-events', row('2022-03-09T08:00:00Z', 'Feb'));
  await imported('h5.csv', 'economic-events', row('2022-03-09T08:00:00Z', ''));
  await imported('h6.csv', 'economic-events', row('2022-03-10T08:00:00Z', ''));
  assert.equal(new Set(await idOf()).size, 5);
  const undone = await shop.must('undo', String(report.runId));
  assert.match(undone, /1 row restored/);
  const { data } = await caller.list(LIST, { ...json, source_id: String(first) });
  assert.equal(data[0]!.event_timestamp, '2021-03-01T08:00:00Z');
});

/** Imports files of one event each, and gives the identifiers and times that a country then has. */
async function timesAfter(country: string, events: readonly (readonly [time: string, period: string])[]) {
  for (const [index, [time, period]] of events.entries())
    await imported(
      `${country}${index}.csv`,
      'economic-events',
      `${head},period\n${country},GDP_A,a,${time},${period}\n`,
    );
  return stored(country);
}

async function stored(country: string): Promise<(readonly [time: unknown, id: unknown])[]> {
  const { data } = await caller.list(LIST, { ...json, country_iso_code: country, limit: '1000' });
  return data.map((event) => [event.event_timestamp, event.source_id]);
}

/** Files of one event each, and the times that are then stored. */
const sequences: readonly (readonly [
  what: string,
  files: readonly (readonly [time: string, period: string])[],
  times: readonly string[],
])[] = [
  [
    "last year's December that comes out in January, and this year's",
    [
      ['2024-01-04T00:30:00Z', 'Dec'],
      ['2024-12-16T00:30:00Z', 'Dec'],
    ],
    ['2024-01-04T00:30:00Z', '2024-12-16T00:30:00Z'],
  ],
  [
    'a quarter that is put off over New Year',
    [
      ['2024-12-31T00:30:00Z', 'Q3'],
      ['2025-01-06T00:30:00Z', 'Q3'],
    ],
    ['2025-01-06T00:30:00Z'],
  ],
  [
    'a month to come that is put off over New Year',
    [
      ['2024-12-20T07:00:00Z', 'Jan'],
      ['2025-01-03T07:00:00Z', 'Jan'],
    ],
    ['2025-01-03T07:00:00Z'],
  ],
  [
    'a label with a year that is put off over New Year',
    [
      ['2024-12-31T00:30:00Z', 'Q3 2024'],
      ['2025-01-06T00:30:00Z', 'Q3 2024'],
      ['2025-12-31T00:30:00Z', 'Q3 2025'],
    ],
    ['2025-01-06T00:30:00Z', '2025-12-31T00:30:00Z'],
  ],
  [
    'labels that tell no period: the time tells the events apart',
    [
      ['2024-11-21T13:30:00Z', 'Week 46'],
      ['2024-11-28T13:30:00Z', 'Week 46'],
      ['2024-11-28T13:30:00Z', 'Week 47'],
    ],
    ['2024-11-21T13:30:00Z', '2024-11-28T13:30:00Z'],
  ],
];
for (const [index, [what, files, times]] of sequences.entries())
  test(`${what}: ${times.length} of ${files.length} stay (contract 8.7)`, async () => {
    const found = await timesAfter(`S${'ABCDEFGH'[index]}`, files);
    assert.deepEqual(
      found.map(([time]) => time),
      times,
    );
  });

/** Labels with the month in which their period begins; null: nothing tells it. */
const labels: Readonly<Record<string, string | null>> = {
  ...{ Nov: '11', Dec: '12', Jan: '01', Q3: '07', Q4: '10', H2: '07' },
  ...{ 'Dec 2023': '12', '': null, 'Week 1': null },
};

/** What tells a release from others of its code, as the rule has it in words. */
function identityOf(label: string, ms: number): string {
  const month = labels[label] ?? null;
  if (month === null) return wireTime(ms);
  if (/\d{4}/.test(label)) return label;
  const begins = [2022, 2023, 2024, 2025, 2026].map((year) => Date.parse(`${year}-${month}-01T00:00:00Z`));
  const allowed = begins.filter((begin) => begin - ms <= 45 * 24 * HOUR_MS);
  return `${label} ${allowed.sort((a, b) => Math.abs(a - ms) - Math.abs(b - ms))[0]}`;
}

test('whatever is put off: releases of random files are those of the rule (contract 8.7)', async () => {
  const release = fc.record({
    label: fc.constantFrom(...Object.keys(labels)),
    ms: fc
      .integer({ min: 0, max: 900 })
      .map((days) => Date.parse('2023-01-01T12:00:00Z') + days * 24 * HOUR_MS),
  });
  const files = fc.array(
    fc.uniqueArray(release, {
      minLength: 1,
      maxLength: 5,
      selector: ({ label, ms }) => identityOf(label, ms),
    }),
    { minLength: 1, maxLength: 6 },
  );
  let code = 0;
  const property = fc.asyncProperty(files, async (all) => {
    const name = `RANDOM_${++code}`;
    const wanted = new Map<string, string>();
    for (const rows of all) {
      const lines = rows.map(({ label, ms }) => `RR,${name},a,${wireTime(ms)},${label}`);
      for (const { label, ms } of rows) wanted.set(identityOf(label, ms), `${wireTime(ms)} ${label}`);
      await imported('r.csv', 'economic-events', [`${head},period`, ...lines, ''].join('\n'));
    }
    const { data } = await caller.list(LIST, { ...json, event_code: name, limit: '1000' });
    const found = data.map(({ event_timestamp, period }) => `${event_timestamp} ${period ?? ''}`);
    assert.deepEqual(found.sort(), [...wanted.values()].sort());
  });
  await fc.assert(property, { numRuns: tries(20) });
});

test('two rows of one period in a file are two events, told apart by their date; the report says so (contract 8.7)', async () => {
  const file = (country: string, ...times: string[]) =>
    [`${head},period`, ...times.map((time) => `${country},SPEECH,a,${time},Mar`), ''].join('\n');
  const [first, second] = ['2021-04-01T08:00:00Z', '2021-04-15T08:00:00Z'];
  const text = file('ZW', first, second);
  const report = await imported('k1.csv', 'economic-events', text);
  assert.deepEqual([report.rowsNew, report.rowsRefused], [2, 0]);
  const dated = 'events of one period at several times: each is identified by its date too';
  assert.deepEqual(report.findings, { [dated]: 2 });
  const found = await stored('ZW');
  assert.deepEqual(
    found.map(([time]) => time),
    [first, second],
  );
  assert.equal((await imported('k1.csv', 'economic-events', text)).rowsUnchanged, 2);
  // Each by itself is the same event, also at another time of its date.
  for (const one of [second, '2021-04-01T09:00:00Z'])
    await imported('k2.csv', 'economic-events', file('ZW', one));
  assert.deepEqual(await stored('ZW'), [['2021-04-01T09:00:00Z', found[0]![1]], found[1]]);
  // One that was stored by itself first is that of its date.
  const [[, alone]] = (await timesAfter('ZX', [[second, 'Mar']])) as [[unknown, unknown]];
  await imported('k3.csv', 'economic-events', text.replaceAll('ZW,', 'ZX,').replaceAll('SPEECH', 'GDP_A'));
  assert.deepEqual((await stored('ZX'))[1], [second, alone]);
  assert.equal((await stored('ZX')).length, 2);
  // Of two that are stored, one by its date, a row of that date is that one.
  await timesAfter('ZY', [[first, 'Mar']]);
  const ofCode = (one: string) => one.replaceAll('ZW,', 'ZY,').replaceAll('SPEECH', 'GDP_A');
  await imported('k5.csv', 'economic-events', ofCode(text));
  const two = await stored('ZY');
  await imported('k6.csv', 'economic-events', ofCode(file('ZW', '2021-04-15T09:00:00Z')));
  assert.deepEqual(await stored('ZY'), [two[0], ['2021-04-15T09:00:00Z', two[1]![1]]]);
  // Several of one date are told apart by their time.
  const hours = file('ZV', first, '2021-04-01T15:00:00Z', second);
  assert.equal((await imported('k4.csv', 'economic-events', hours)).rowsNew, 3);
  assert.equal((await imported('k4.csv', 'economic-events', hours)).rowsUnchanged, 3);
  assert.equal((await stored('ZV')).length, 3);
});

test('of two rows of one event and time in a file the second is refused (contract 11)', async () => {
  const rows = ['1', '2'].map((value) => `ZU,SPEECH,a,2021-03-01T08:00:00Z,${value},Mar`);
  const one = await imported(
    'l1.csv',
    'economic-events',
    [`${head},actual_value,period`, ...rows, ''].join('\n'),
  );
  assert.deepEqual([one.rowsWritten, one.rowsRefused], [1, 1]);
  assert.match(one.refused[0]!.reason, /by country, code, period and its year/);
});

/** The identifier that Bourse made before it knew the year of a period. */
const formerId = (country: string, label: string, year: number): string =>
  digest(JSON.stringify([country, 'GDP_A', label, year]));

test('events that are stored under identifiers of an earlier version keep them, and give them to no other event (contract 8.7)', async () => {
  const file = (country: string, ...rows: string[]) =>
    [`${head},actual_value,period,source_id`, ...rows.map((row) => `${country},GDP_A,a,${row}`), ''].join(
      '\n',
    );
  // A December of 2023 was named by the year of its release.
  const before = ['2024-01-04T00:30:00Z,47.9,Dec', '2024-11-21T00:30:00Z,5,Week 46'];
  const ids = [formerId('ZT', 'Dec', 2024), formerId('ZT', 'Week 46', 2024)];
  await imported('m1.csv', 'economic-events', file('ZT', ...before.map((row, at) => `${row},${ids[at]}`)));
  const again = await imported('m2.csv', 'economic-events', file('ZT', ...before.map((row) => `${row},`)));
  assert.deepEqual([again.rowsUnchanged, again.rowsNew], [2, 0]);
  // That of 2024 would have had the same identifier, and so would a release of another week.
  const next = file('ZT', '2024-12-16T00:30:00Z,49.5,Dec,', '2024-11-28T00:30:00Z,6,Week 46,');
  assert.equal((await imported('m3.csv', 'economic-events', next)).rowsNew, 2);
  assert.equal((await imported('m3.csv', 'economic-events', next)).rowsUnchanged, 2);
  assert.equal(
    (await imported('m3.csv', 'economic-events', file('ZT', '2025-01-03T00:30:00Z,49,Dec,'))).rowsReplaced,
    1,
  );
  const corrected = file('ZT', '2024-01-05T00:30:00Z,48,Dec,');
  assert.equal((await imported('m4.csv', 'economic-events', corrected)).rowsReplaced, 1);
  const times = (await stored('ZT')).map(([time]) => time);
  assert.deepEqual(times, [
    '2024-01-05T00:30:00Z',
    '2024-11-21T00:30:00Z',
    '2024-11-28T00:30:00Z',
    '2025-01-03T00:30:00Z',
  ]);
  assert.equal((await stored('ZT'))[0]![1], ids[0]);
  // An event that was put off over New Year is stored twice: each of the two stays itself.
  const twice = ['2025-12-31T13:30:00Z,,Nov', '2026-01-09T13:30:00Z,,Nov'];
  const both = twice.map((row, at) => `${row},${formerId('ZS', 'Nov', 2025 + at)}`);
  await imported('m5.csv', 'economic-events', file('ZS', ...both));
  const told = await imported('m6.csv', 'economic-events', file('ZS', `${twice[1]},`));
  assert.deepEqual([told.rowsUnchanged, Object.values(told.findings)], [1, [1]]);
});

/**
 * A stored event, one that a file brings, and whether the report tells of the stored one as an earlier time.
 */
const ghosts: readonly (readonly [what: string, stored: string, brought: string, isTold: boolean])[] = [
  ['a day later, of the same figures', '2025-03-10T15:00:00Z,,10.2', '2025-03-11T15:00:00Z,,10.2', true],
  ['a day earlier', '2025-03-11T15:00:00Z,,10.2', '2025-03-10T15:00:00Z,,10.2', true],
  ['an hour later, of no figures', '2025-03-10T15:00:00Z,,', '2025-03-10T16:00:00Z,,', true],
  ['two weeks later, of the same figure', '2025-03-10T15:00:00Z,,10.2', '2025-03-24T15:00:00Z,1,10.2', true],
  ['a day later, of a revised figure', '2025-03-10T15:00:00Z,,10.2', '2025-03-11T15:00:00Z,,10.3', true],
  ['a week later, as every week', '2025-03-13T12:30:00Z,,223', '2025-03-20T12:30:00Z,,219', false],
  ['the day before a holiday', '2025-11-20T13:30:00Z,,220', '2025-11-26T13:30:00Z,,216', false],
  ['a speech of the week before', '2025-03-10T15:00:00Z,,', '2025-03-17T15:00:00Z,,', false],
  ['a month later, of the same figure', '2025-02-12T13:30:00Z,,0.2', '2025-03-12T13:30:00Z,,0.2', false],
  ['after one that has a result', '2025-03-03T15:00:00Z,10.2,9', '2025-03-04T15:00:00Z,,9', false],
];
for (const [index, [what, before, brought, isTold]] of ghosts.entries())
  test(`an event without a period, ${what}, ${isTold ? 'may have been moved: the report names its earlier time' : 'was not moved'} (contract 8.7)`, async () => {
    const country = `Q${'ABCDEFGHIJ'[index]}`;
    const file = (...rows: string[]) =>
      [`${head},actual_value,previous_value`, ...rows.map((row) => `${country},AUCTION,a,${row}`), ''].join(
        '\n',
      );
    await imported('n1.csv', 'economic-events', file(before));
    const { findings } = await imported('n2.csv', 'economic-events', file(brought));
    assert.equal((await stored(country)).length, 2);
    const [said] = Object.keys(findings);
    assert.equal(said !== undefined, isTold);
    const [time, newTime] = [before, brought].map((row) => row.split(',')[0]!);
    if (said !== undefined) {
      const told = `^earlier times of events that may have moved stay stored, such as ${country} AUCTION at ${time}, in this file at ${newTime} `;
      assert.match(said, new RegExp(told));
      const [, id = ''] = /--source-id ([0-9a-f]{64})/.exec(said)!;
      await shop.must('delete', 'economic-events', '--source-id', id);
      assert.deepEqual(
        (await stored(country)).map(([at]) => at),
        [newTime],
      );
    }
    // A file that has both says that neither moved.
    const both = await imported('n3.csv', 'economic-events', file(before, brought));
    assert.deepEqual(both.findings, {});
  });

/**
 * The week of now in a calendar without results, with a speech at some time, and claims with a previous
 * value.
 */
const weekOf = (country: string, speech: string) =>
  [
    `${head},previous_value`,
    `${country},GDP_A,a,2025-03-02T09:00:00Z,`,
    `${country},SPEECH,a,${speech},`,
    `${country},CLAIMS,a,2025-03-06T13:30:00Z,220`,
    '',
  ].join('\n');

test('a calendar without results, week after week: events of the week before have been, and did not move (contract 8.7)', async () => {
  const rows = ['SPEECH,a,2025-02-28T18:00:00Z,', 'CLAIMS,a,2025-02-27T13:30:00Z,220'];
  const before = [`${head},previous_value`, ...rows.map((row) => `RA,${row}`), ''].join('\n');
  await imported('week1.csv', 'economic-events', before);
  const { findings } = await imported('week2.csv', 'economic-events', weekOf('RA', '2025-03-03T18:00:00Z'));
  assert.deepEqual(findings, {});
});

test('a later file of the week says of what has been that it may have moved (contract 8.7)', async () => {
  await imported('week3.csv', 'economic-events', weekOf('RB', '2025-03-03T18:00:00Z'));
  const { findings } = await imported('week4.csv', 'economic-events', weekOf('RB', '2025-03-04T18:00:00Z'));
  const [[said, count]] = Object.entries(findings) as [[string, number]];
  assert.equal(count, 1);
  assert.match(said, /RB SPEECH at 2025-03-03T18:00:00Z, in this file at 2025-03-04T18:00:00Z /);
});

test('an import can be repeated, and a corrected row replaces the whole one (contract 11)', async () => {
  const id = digest('corrected');
  const row = (cells: string) =>
    `${head},actual_value,unit,source_id\nZI,GDP_A,a,2021-03-01T08:00:00Z,${cells},${id}\n`;
  const written: number[] = [];
  for (const cells of ['1,%', '1,%', '2,'])
    written.push((await imported('i.csv', 'economic-events', row(cells))).rowsWritten);
  assert.deepEqual(written, [1, 0, 1]);
  const { data } = await caller.list(LIST, { ...json, country_iso_code: 'ZI' });
  assert.deepEqual([data.length, data[0]!.actual_value, data[0]!.unit], [1, 2, null]);
});

test('times come with an offset, as epochs, or local with --zone, in whole seconds (contract 2.5, 11)', async () => {
  const times =
    '2021-01-05T08:30:00.750-05:00 1609853400 1609853400000 1609853400000000 1609853400000000000'.split(' ');
  const rows = times.map((time, index) => `ZJ,GDP_${index},a,${time}`);
  await imported('j.csv', 'economic-events', [head, ...rows, ''].join('\n'));
  const file = shop.path('local.csv');
  writeFileSync(
    file,
    `${head}\nZJ,GDP_7,a,2021-01-05 08:30:00\nZJ,GDP_8,a,2021-03-14T02:30:00\nZJ,GDP_9,a,2021-01-05\n`,
  );
  const bare = await shop.run('import', 'economic-events', file);
  assert.equal(bare.status, 1);
  assert.match(bare.stdout, /event_timestamp: must be an instant with its offset.*give --zone/);
  const { status, stdout } = await shop.run('import', 'economic-events', file, '--zone', 'America/New_York');
  assert.equal(status, 1);
  assert.match(stdout, /1 new.*2 refused/);
  const { data } = await caller.list(LIST, { ...json, country_iso_code: 'ZJ' });
  assert.equal(data.length, times.length + 1);
  assert.deepEqual(new Set(data.map((event) => event.event_timestamp)), new Set(['2021-01-05T13:30:00Z']));
});

const refusals: readonly (readonly [cells: string, problem: RegExp])[] = [
  ['USA,GDP_A,a,2021-01-01T00:00:00Z,,,,,', /country_iso_code: must be a two-letter code/],
  ['US,GDP-A,a,2021-01-01T00:00:00Z,,,,,', /event_code: must be letters, digits and underscores/],
  ['US,GDP_A, ,2021-01-01T00:00:00Z,,,,,', /event_name: is missing/],
  ['US,GDP_A,,2021-01-01T00:00:00Z,,,,,', /event_name: is missing/],
  ['US,GDP_A,a,2021-02-29T00:00:00Z,,,,,', /event_timestamp: must be an instant/],
  ['US,GDP_A,a,1899-12-31T00:00:00Z,,,,,', /event_timestamp: must be an instant/],
  ['US,GDP_A,a,2021-01-01T00:00:00Z,4,,,,', /importance: must be 1, 2 or 3/],
  ['US,GDP_A,a,2021-01-01T00:00:00Z,,huge,,,', /impact: must be one of low, medium, high/],
  ['US,GDP_A,a,2021-01-01T00:00:00Z,,,"1,234",,', /actual_value: must be a number/],
  ['US,GDP_A,a,2021-01-01T00:00:00Z,,,1e999,,', /actual_value: must be a number/],
  ['US,GDP_A,a,2021-01-01T00:00:00Z,,,5%,,', /actual_value: must be a number/],
  [
    'US,GDP_A,a,2021-01-01T00:00:00Z,,,,sometimes,',
    /event_driven_type: must be one of time_driven, data_driven/,
  ],
  ['US,GDP_A,a,2021-01-01T00:00:00Z,,,,,abc', /source_id: must be 64 hexadecimal digits/],
];
test('each row that cannot be is refused with its column and its reason (contract 11)', async () => {
  const file = shop.path('refused.csv');
  const repeated = ['US,GDP_A,a,2021-01-01T00:00:00Z,1,,,,', 'US,GDP_A,b,2021-01-01T00:00:00Z,1,,,,'];
  writeFileSync(
    file,
    [
      `${head},importance,impact,actual_value,event_driven_type,source_id`,
      ...refusals.map(([cells]) => cells),
      ...repeated,
      '',
    ].join('\n'),
  );
  const { status, stdout } = await shop.run(
    'import',
    'economic-events',
    file,
    '--dry-run',
    '--preset',
    'none',
  );
  assert.equal(status, 1);
  const told = stdout.split('\n').filter((line) => line.includes('data row'));
  refusals.forEach(([cells, problem], index) => {
    assert.match(told[index] ?? '', problem, cells);
  });
  assert.match(told.at(-1)!, /event_code: the file has this event already, with other values/);
});

test('a flag that says nothing of events is wrong usage (contract 10)', async () => {
  const file = shop.path('flag.csv');
  writeFileSync(file, `${head}\nUS,GDP_A,a,2021-01-01T00:00:00Z\n`);
  for (const flag of ['--symbol', '--interval']) {
    const { status, stderr } = await shop.run('import', 'economic-events', file, flag, 'X');
    assert.equal(status, 2, flag);
    assert.match(stderr, /economic-events/);
  }
});

const single = async (query: Readonly<Record<string, string>>): Promise<Got> => {
  const response = await caller.ask(EVENT, query);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return (JSON.parse(text) as { result: Got }).result;
};

test('one event: the newest that has been, the weightier of those at one time (spec 4.13, contract 8.8)', async () => {
  for (const filters of filterSets.filter((set) => set.source_id === undefined)) {
    const past = heldBy(filters).filter((event) => event.ms <= NOW_MS);
    const newestMs = past.at(-1)!.ms;
    const expected = past.find((event) => event.ms === newestMs)!;
    assert.equal((await single(filters)).event_name, expected.name, JSON.stringify(filters));
    const oldest = { ...filters, sort: 'asc', from_date: wireTime(past[0]!.ms) };
    assert.equal((await single(oldest)).event_name, past[0]!.name, JSON.stringify(filters));
  }
});

test('one event of a range: with an end also what is to come (spec 4.13, contract 8.8)', async () => {
  const all = heldBy({ country_iso_code: 'ZA' });
  const last = all.find((event) => event.ms === all.at(-1)!.ms)!;
  const ahead = { country_iso_code: 'ZA', from_date: wireTime(NOW_MS + HOUR_MS) };
  assert.equal((await single({ ...ahead, to_date: '2200-01-01' })).event_name, last.name);
  assert.equal((await caller.refused(EVENT, ahead)).detail.error, 'no_data');
  const future = all.at(-1)!;
  assert.equal((await single({ source_id: future.id })).event_name, future.name);
  assert.equal((await single({ source_id: future.id, to_date: '1990-01-01' })).event_name, future.name);
});

test('nothing that matches is a 404 no_data, of a list an empty 200 (contract 6.3, 8.8)', async () => {
  for (const query of [{ country_iso_code: 'ZZ' }, { event_code: 'NONE' }, { source_id: '0'.repeat(64) }]) {
    const refused = await caller.refused(EVENT, query);
    assert.deepEqual([refused.code, refused.detail.error], [404, 'no_data']);
    assert.deepEqual(await caller.list(LIST, { ...json, ...query }), {
      next_page_key: null,
      next_page_url: null,
      count: 0,
      data: [],
    });
  }
  const header = await (await caller.ask(LIST, { country_iso_code: 'ZZ' })).text();
  assert.match(header, /^country_iso_code,event_code,.*,source_id\r\n$/);
});

test('a source_id of another length and words misspelt are 400s that name what is allowed (spec 8, contract 1.6, 4.4)', async () => {
  const wrong: readonly (readonly [
    path: string,
    query: Readonly<Record<string, string>>,
    allowed: RegExp,
  ])[] = [
    [LIST, { source_id: 'a'.repeat(63) }, /64 characters/],
    [EVENT, { source_id: 'a'.repeat(65) }, /64 characters/],
    [LIST, { impact: 'hgih' }, /low, medium, high, all/],
    [LATEST, { date_type: 'past' }, /upcoming, historical, all/],
    [LIST, { event_code: 'GDP GROWTH' }, /letters|code/],
    [LIST, { limit: '1002' }, /1001/],
    [LATEST, { limit: '0' }, /1001/],
    [LIST, { from_date: '2025-02-30' }, /YYYY-MM-DD/],
  ];
  for (const [path, query, allowed] of wrong) {
    const refused = await caller.refused(path, query);
    assert.equal(refused.detail.error, 'invalid_parameter');
    assert.equal(refused.detail.param, Object.keys(query)[0]);
    assert.match(refused.message, allowed);
  }
});

test('a page key belongs to its filters and is no other list’s (contract 4.1)', async () => {
  const { next_page_key: key } = await caller.list(LIST, { ...json, country_iso_code: 'ZA', limit: '1' });
  for (const query of [
    { country_iso_code: 'ZB' },
    { country_iso_code: 'ZA', impact: 'low' },
    { country_iso_code: 'ZA', sort: 'desc' },
    { country_iso_code: 'ZA', from_date: '2020-01-01' },
  ]) {
    const refused = await caller.refused(LIST, { ...query, next_page_key: key! });
    assert.equal(refused.detail.error, 'invalid_page_key');
  }
  const other = { ...json, country_iso_code: 'ZA', limit: '2', next_page_key: key! };
  assert.equal((await caller.list(LIST, other)).count, 2);
});

test('the newest list takes the nearest on either side of now, then sorts (contract 9.1)', async () => {
  for (const filters of filterSets.filter((set) => set.source_id === undefined)) {
    const all = heldBy(filters);
    const nowMs = NOW_MS;
    // Of one time the weightier come in first, whichever side they are on.
    const groups = (events: readonly Made[]): Made[] =>
      [...events].sort((a, b) => Math.abs(a.ms - nowMs) - Math.abs(b.ms - nowMs) || inOrder(a, b));
    const sides = {
      upcoming: groups(all.filter((event) => event.ms > nowMs)),
      historical: groups(all.filter((event) => event.ms <= nowMs)),
      all: groups(all),
    };
    for (const [date_type, ranked] of Object.entries(sides)) {
      for (const limit of [1, 5, 9]) {
        for (const sort of ['asc', 'desc']) {
          const query = { ...json, ...filters, date_type, sort, limit: String(limit) };
          const { data } = await caller.list(LATEST, query);
          const expected = ranked.slice(0, limit).sort(inOrder);
          assert.deepEqual(
            namesOf(data),
            names(sort === 'asc' ? expected : expected.reverse()),
            JSON.stringify(query),
          );
        }
      }
    }
  }
  const { data } = await caller.list(LATEST, { ...json, country_iso_code: 'ZA' });
  assert.equal(data.length, 5, 'the default');
});

test('the codes of every named country ship, each with its category or central bank and a sentence (spec 2.9, 4.14)', async () => {
  const banks = {
    ...{ US: 'FED', UK: 'BOE', EU: 'ECB', DE: 'BUNDESBANK', FR: 'BDF', JP: 'BOJ', AU: 'RBA', CA: 'BOC' },
    ...{ CH: 'SNB', HK: 'HKMA', CN: 'PBOC' },
  };
  for (const [country, bank] of Object.entries(banks)) {
    const response = await caller.ask(`${CODES}/${country.toLowerCase()}`);
    const { result } = (await response.json()) as { result: Record<string, string> };
    const codes = Object.keys(result);
    const form = new RegExp(
      `^(GDP|INFLATION|EMPLOYMENT|CONSUMPTION|BUSINESS|HOUSING|TRADE|BONDS|POLITICAL_EVENT|${bank}_(POLICY|SPEECH))_[A-Z0-9_]+$`,
    );
    for (const [code, text] of Object.entries(result)) {
      assert.match(code, form);
      assert.match(text, /^[A-Z].{15,}[.]$/, code);
    }
    assert.equal(new Set(Object.values(result)).size, codes.length, `${country}: no two say the same`);
    const [least, most] = country === 'US' ? [60, 100] : [25, 60];
    assert.ok(codes.length >= least && codes.length <= most, `${country} has ${codes.length}`);
    const categories = new Set(codes.map((code) => code.split('_')[0]));
    assert.equal(categories.size, 10, country);
    if (!['DE', 'FR'].includes(country)) assert.ok(result[`${bank}_POLICY_INTEREST_RATE_DECISION`], country);
  }
  const response = await caller.ask(`${CODES}/US`);
  const { result } = (await response.json()) as { result: Record<string, string> };
  const wanted =
    'GDP_GROWTH_RATE_QOQ INFLATION_CPI_NSA INFLATION_RATE_HEADLINE_YOY EMPLOYMENT_NFP_HEADLINE EMPLOYMENT_INITIAL_JOBLESS_CLAIMS CONSUMPTION_RETAIL_SALES_HEADLINE_MOM BUSINESS_PMI_MANUFACTURING_ISM HOUSING_STARTS_ABSOLUTE FED_POLICY_INTEREST_RATE_DECISION';
  for (const code of wanted.split(' ')) assert.ok(result[code], code);
});

test('codes of a file stand over those that ship, and may be taken back; a country without any has none (contract 6.3, 11)', async () => {
  const codes = async (country: string) =>
    ((await (await caller.ask(`${CODES}/${country}`)).json()) as { result: Record<string, string> }).result;
  const shipped = (await codes('GB')).GDP_GROWTH_RATE_QOQ;
  assert.ok(shipped);
  const report = await imported(
    'codes.csv',
    'economic-event-codes',
    'country_iso_code,event_code,description\nGB,gdp_growth_rate_qoq,"Ours, now."\nUK,OWN_CODE,Our own.\n',
  );
  assert.equal(report.rowsWritten, 2);
  const merged = await codes('UK');
  assert.deepEqual([merged.GDP_GROWTH_RATE_QOQ, merged.OWN_CODE], ['Ours, now.', 'Our own.']);
  await shop.must('undo', String(report.runId));
  assert.equal((await codes('UK')).GDP_GROWTH_RATE_QOQ, shipped);
  assert.deepEqual(await codes('ZZ'), {});
});

test('codes that only stored events have are listed with the name of the newest (spec 2.9, contract 8.7)', async () => {
  const codes = async (country: string) =>
    ((await (await caller.ask(`${CODES}/${country}`)).json()) as { result: Record<string, string> }).result;
  const shipped = await codes('CH');
  const rows = [
    'CH,zz_own,First name,2021-01-01T00:00:00Z',
    'CH,ZZ_OWN,Newest name,2023-01-01T00:00:00Z',
    'CH,ZZ_OWN,A name between,2022-01-01T00:00:00Z',
    'CH,AA_OWN,Another,2021-01-01T00:00:00Z',
    'CH,A,Of one letter,2021-01-01T00:00:00Z',
    'CH,ZZ_DESCRIBED,Its event,2021-01-01T00:00:00Z',
    'CH,GDP_GROWTH_RATE_QOQ,Another name,2021-01-01T00:00:00Z',
    'QX,ZZ_OWN,Of another country,2024-01-01T00:00:00Z',
  ];
  assert.ok('GDP_GROWTH_RATE_QOQ' in shipped);
  const events = await imported('own.csv', 'economic-events', [head, ...rows, ''].join('\n'));
  const described = await imported(
    'own-codes.csv',
    'economic-event-codes',
    'country_iso_code,event_code,description\nCH,ZZ_DESCRIBED,What the file says.\n',
  );
  assert.deepEqual(Object.entries(await codes('CH')), [
    ...Object.entries(shipped),
    ['ZZ_DESCRIBED', 'What the file says.'],
    ['A', 'Of one letter'],
    ['AA_OWN', 'Another'],
    ['ZZ_OWN', 'Newest name'],
  ]);
  assert.deepEqual(await codes('QX'), { ZZ_OWN: 'Of another country' });
  await shop.must('undo', String(described.runId));
  assert.equal((await codes('CH')).ZZ_DESCRIBED, 'Its event');
  await shop.must('undo', String(events.runId));
  assert.deepEqual(await codes('CH'), shipped);
});

test('the file of shipped codes is a native file, and answers are in its order (contract 11)', async () => {
  const file = join(import.meta.dirname, '../src/store/schema/economic-event-codes.json');
  const rows = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>[];
  const countries = new Set(rows.map((row) => row.country_iso_code!));
  const answers = () =>
    Promise.all(Array.from(countries, async (country) => (await caller.ask(`${CODES}/${country}`)).text()));
  const shipped = await answers();
  for (const [index, country] of [...countries].entries()) {
    const listed = rows.filter((row) => row.country_iso_code === country);
    assert.deepEqual(
      Object.entries((JSON.parse(shipped[index]!) as { result: object }).result),
      listed.map((row) => [row.event_code, row.description]),
    );
  }
  const report = await imported('shipped.json', 'economic-event-codes', JSON.stringify(rows));
  assert.deepEqual([report.rowsWritten, report.rowsRefused], [rows.length, 0]);
  assert.deepEqual(await answers(), shipped);
  await shop.must('undo', String(report.runId));
});

test('a walk during imports repeats nothing and misses nothing that was there (contract 4.1)', async () => {
  const count = 60;
  const row = (index: number) =>
    `ZK,GDP_${index},${index},2021-01-01T00:${String(index % 10).padStart(2, '0')}:00Z`;
  const file = (from: number, to: number) =>
    [head, ...Array.from({ length: to - from }, (_, at) => row(from + at)), ''].join('\n');
  await imported('k0.csv', 'economic-events', file(0, count));
  for (const sort of ['asc', 'desc']) {
    let next = count + (sort === 'desc' ? 20 : 0);
    const walked = await caller.walk(
      LIST,
      { ...json, country_iso_code: 'ZK', sort, limit: '20' },
      async () => {
        await imported(`k${next}.csv`, 'economic-events', file(next, next + 5));
        next += 5;
      },
    );
    const found = namesOf(walked).map(Number);
    assert.equal(new Set(found).size, found.length, 'none twice');
    const there = found.filter((index) => index < count);
    assert.equal(there.length, count, 'none missed');
  }
});

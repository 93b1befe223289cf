// `bourse calendar`: what a person holds against the exchange's page (contract 10).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { Workshop } from './service.ts';

const shop = new Workshop();
after(() => shop.close());

const week = ['US', '--from', '2024-07-02', '--to', '2024-07-05'];

test('a table of sessions and closings, with their hours by local clock and in UTC (contract 10)', async () => {
  const { status, stdout, stderr } = await shop.run('calendar', ...week);
  assert.equal(status, 0);
  assert.match(stderr, /^bourse: without imported holidays: /, 'where there is no store yet');
  assert.deepEqual(
    stdout.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' | ')),
    [
      'US_STOCK, local time is America/New_York',
      'DATE | DAY | SESSION | HOURS | AUCTION | OPEN (UTC) | CLOSE (UTC) | HOLIDAY',
      '2024-07-02 | Tue | REGULAR | 09:30-16:00 | 2024-07-02T13:30 | 2024-07-02T20:00',
      '2024-07-03 | Wed | EARLY_CLOSE | 09:30-13:00 | 2024-07-03T13:30 | 2024-07-03T17:00 | Day before Independence Day',
      '2024-07-04 | Thu | CLOSED | Independence Day',
      '2024-07-05 | Fri | REGULAR | 09:30-16:00 | 2024-07-05T13:30 | 2024-07-05T20:00',
      '3 sessions, 1 with an early close, 0 with a late open; 1 closing',
      '',
    ],
  );
});

test('--csv and --json give the same days, --exceptions only those that are not as every other (contract 10)', async () => {
  const csv = (await shop.must('calendar', ...week, '--exceptions', '--csv')).trim().split('\r\n');
  assert.deepEqual(csv, [
    'date,weekday,session,hours,open,close,holiday_code,name,auction',
    '2024-07-03,Wed,EARLY_CLOSE,09:30-13:00,2024-07-03T13:30:00+00:00,2024-07-03T17:00:00+00:00,HOLIDAY_INDEPENDENCE_DAY,Day before Independence Day,',
    '2024-07-04,Thu,CLOSED,,,,HOLIDAY_INDEPENDENCE_DAY,Independence Day,',
  ]);
  const json = JSON.parse(await shop.must('calendar', ...week, '--json')) as Record<string, unknown>[];
  assert.deepEqual(
    json.map(({ date, session }) => [date, session]),
    [
      ['2024-07-02', 'REGULAR'],
      ['2024-07-03', 'EARLY_CLOSE'],
      ['2024-07-04', 'CLOSED'],
      ['2024-07-05', 'REGULAR'],
    ],
  );
});

test('hours of a lunch break stand side by side', async () => {
  const day = ['jp', '--from', '2024-11-05', '--to', '2024-11-05'];
  assert.match(await shop.must('calendar', ...day), /REGULAR +09:00-11:30 12:30-15:30 /);
});

test('closing auctions stand beside the regular hours, in local time (contract 3.13)', async () => {
  const days = ['uk', '--from', '2024-12-23', '--to', '2024-12-25'];
  const text = await shop.must('calendar', ...days);
  assert.match(text, /REGULAR +08:00-16:30 +16:30-16:52 +2024-12-23T08:00 +2024-12-23T16:30/);
  assert.match(text, /EARLY_CLOSE +08:00-12:30 +12:30-12:52 +2024-12-24T08:00 +2024-12-24T12:30/);
  const csv = (await shop.must('calendar', ...days, '--csv')).trim().split('\r\n');
  assert.deepEqual(
    csv.slice(1).map((line) => line.split(',').at(-1)),
    ['16:30-16:52', '12:30-12:52', ''],
  );
});

test("an operator's own days are in it, and a name is quoted where CSV asks for it (contract 8.6)", async () => {
  const file = shop.path('days.csv');
  const head = 'name,holiday_code,calendar_date,asset_name,country_iso_code,symbol,session_template';
  writeFileSync(file, `${head}\n"Halt, all day",HOLIDAY_HALT,2024-07-02,stock,US,*,CLOSED\n`);
  await shop.must('import', 'holidays', file);
  const csv = await shop.must('calendar', ...week, '--csv');
  assert.match(csv, /2024-07-02,Tue,CLOSED,,,,HOLIDAY_HALT,"Halt, all day",\r\n/);
});

test('days beyond the known years are said to be so, not passed over (contract 3.7)', async () => {
  const beyond = await shop.must('calendar', 'CN', '--from', '2031-10-01', '--to', '2031-10-01');
  assert.match(beyond, /REGULAR/);
  assert.match(
    beyond,
    /Holidays are known from 2000 to \d{4}: on other days this is only the weekly pattern\./,
  );
});

const mistakes: readonly (readonly [args: readonly string[], told: RegExp])[] = [
  [['XX'], /there is no market XX with a calendar: use one of US, .*future:US/],
  [['US', '--from', '2024-02-30'], /--from 2024-02-30: must be a date/],
  [['US', '--from', '2024-02-01', '--to', '2024-01-01'], /--from is after --to/],
];
for (const [args, told] of mistakes) {
  test(`bourse calendar ${args.join(' ')} is wrong usage (contract 10)`, async () => {
    const { status, stdout, stderr } = await shop.run('calendar', ...args);
    assert.deepEqual([status, stdout], [2, '']);
    assert.match(stderr, told);
  });
}

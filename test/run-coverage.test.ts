// How far runs make series complete after calendars of some of them have changed: as if the change had come
// before (contract 3.9).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { undoRun } from '../src/runs/undo-run.ts';
import { openStore } from '../src/store/engines.ts';
import type { Store } from '../src/store/store.ts';
import { AskedBars, type Named } from './asked-bars.ts';
import type { FileRow } from './importing.ts';
import { fc, times } from './seed.ts';

const A: Named = { asset_schema: 'stock', country_iso_code: 'US', symbol: 'A' };
const B: Named = { ...A, symbol: 'B' };
const at = (text: string): number => Date.parse(`2024-02-${text}:00Z`);
const flat = { open: 1, high: 1, low: 1, close: 1, volume: 1 };

/** Half hours from half past nine in New York, on February 7. */
const halves = (named: Named, count: number): FileRow[] =>
  Array.from({ length: count }, (_, half) => ({
    ...named,
    interval: '30M',
    datetime: new Date(at('07T14:30') + half * 1_800_000).toISOString(),
    ...flat,
  }));
const days = (named: Named, dates: readonly string[]): FileRow[] =>
  dates.map((date) => ({ ...named, interval: 'DAY', datetime: `2024-02-${date}`, ...flat }));

/** What becomes of February 7, by default an early close at 13:00 in New York. */
const day = (symbol: string, more: FileRow = { close_timestamp: '2024-02-07T18:00:00Z' }): FileRow => ({
  ...{
    name: 'A day',
    holiday_code: 'HOLIDAY_A_DAY',
    asset_name: 'stock',
    symbol,
    calendar_date: '2024-02-07',
  },
  ...{ session_template: 'EARLY_CLOSE', ...more },
});

const london = { ...A, calendar_key: 'UK_STOCK' };

/** Random orders. */
const RUNS = times(8);

type Step = readonly [moment: string, dataset: string, rows: readonly FileRow[]];

/**
 * Takes steps at their moments of February 2024, undoes some runs, and gives the bars of an instrument that
 * are then served.
 */
async function served(
  named: Named,
  interval: string,
  steps: readonly Step[],
  undone: readonly number[] = [],
): Promise<string[]> {
  const asked = new AskedBars(named);
  try {
    for (const [moment, dataset, rows] of steps) {
      asked.nowMs = at(moment);
      await asked.import(rows, dataset, false);
    }
    for (const runId of undone)
      await write(asked, (store) => undoRun(store, { runId, dryRun: false, nowMs: Date.now }));
    return await answers(asked, interval);
  } finally {
    await asked.close();
  }
}

async function answers(asked: AskedBars, interval: string): Promise<string[]> {
  asked.nowMs = at('20T00:00');
  const bars = await asked.history(interval, '2024-02-05', '2024-02-12');
  return bars.map((bar) => `${bar.datetime.slice(8, 16)} ${bar.close_datetime.slice(8, 16)} ${bar.volume}`);
}

/** Works on the store that the instrument is asked of. */
async function write<T>({ url }: AskedBars, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(url, 'write');
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Steps in each order; the bars come at the same moment in both. */
async function inEachOrder(named: Named, interval: string, bars: Step, change: Step): Promise<string[]> {
  const [late, early] = [
    await served(named, interval, [bars, change]),
    await served(named, interval, [change, bars]),
  ];
  assert.deepEqual(late, early);
  return late;
}

test('a calendar key of one stock finishes nothing of another stock of its file, and hides nothing (contract 3.9)', async () => {
  const key: Step = ['10T20:00', 'instruments', [london]];
  const minutes: Step = ['07T20:00', 'bars', [...halves(A, 3), ...halves(B, 3)]];
  assert.deepEqual(await inEachOrder(B, '120M', minutes, key), []);
  const dates = ['05', '06', '07', '08', '09'];
  const week: Step = ['10T03:00', 'bars', [...days(A, dates), ...days(B, dates)]];
  assert.deepEqual(await inEachOrder(B, 'WEEK', week, key), ['05T14:30 09T21:00 5']);
  // The stock itself has the session of London, in the middle of which its minutes begin.
  const own: Step = ['07T20:00', 'bars', [...halves(A, 3), ...halves(B, 3)]];
  assert.deepEqual(await inEachOrder(A, 'DAY', own, key), []);
});

test('an early close of one stock finishes its own half day, and none of another stock of its file (contract 3.9, 8.6)', async () => {
  const bars: Step = ['07T23:00', 'bars', [...halves(A, 7), ...halves(B, 7)]];
  const own: Step = ['10T20:00', 'holidays', [day('A')]];
  assert.deepEqual(await inEachOrder(B, 'DAY', bars, own), []);
  assert.deepEqual(await inEachOrder(A, 'DAY', bars, own), ['07T14:30 07T18:00 7']);
  const all: Step = ['10T20:00', 'holidays', [day('*'), day('A', { session_template: 'REGULAR' })]];
  assert.deepEqual(await inEachOrder(B, 'DAY', bars, all), ['07T14:30 07T18:00 7']);
  assert.deepEqual(await inEachOrder(A, 'DAY', bars, all), []);
});

test('a stock that has left the market of its file is not passed over by later files of that market (contract 3.9)', async () => {
  const first = ['A', 'B', 'C'].flatMap((symbol) => days({ ...A, symbol }, ['05', '06', '07']));
  const later = ['B', 'C'].flatMap((symbol) => days({ ...A, symbol }, ['08', '09']));
  const steps: Step[] = [
    ['08T03:00', 'bars', first],
    ['10T03:00', 'bars', later],
  ];
  assert.deepEqual(await served(A, 'WEEK', steps), ['05T14:30 09T21:00 3']);
  assert.deepEqual(await served(A, 'WEEK', [...steps, ['10T20:00', 'instruments', [london]]]), []);
});

const option: Named = { ...A, asset_schema: 'option', symbol: 'ZC240621C00450000' };
const contract: FileRow = {
  ...{ country_iso_code: 'US', symbol: option.symbol, parent_asset_schema: 'future', underlying_name: 'ZC' },
  ...{ strike_price: 450, expiration_date: '2024-06-21', option_type: 'call' },
};
const future: FileRow = { ...A, asset_schema: 'future', symbol: 'ZC', calendar_key: 'US_FUTURE' };
const optionSteps = {
  contract: ['10T00:00', 'option-contracts', [contract]],
  key: ['10T00:00', 'instruments', [future]],
  // At 16:30 in Chicago: the session of futures is over, the post-market of stocks is not.
  bars: [
    '07T22:30',
    'bars',
    [{ ...halves(option, 1)[0], datetime: '2024-02-06T23:00:00Z' }, ...halves(option, 7)],
  ],
} as const satisfies Record<string, Step>;

test('options follow a key of their underlying, and a contract, that come after the bars (contract 3.7, 3.9)', async () => {
  const orders = [
    ['contract', 'key', 'bars'],
    ['contract', 'bars', 'key'],
    ['key', 'contract', 'bars'],
    ['key', 'bars', 'contract'],
    ['bars', 'key', 'contract'],
  ] as const;
  for (const order of orders) {
    const steps = order.map((name) => optionSteps[name]);
    assert.deepEqual(await served(option, 'DAY', steps), ['06T23:00 07T22:00 8'], order.join());
  }
});

test('an undo of the key of an underlying counts for its options (contract 3.7, 3.9)', async () => {
  const steps = (['contract', 'key', 'bars'] as const).map((name) => optionSteps[name]);
  assert.equal((await served(option, 'DAY', steps)).length, 1);
  assert.deepEqual(await served(option, 'DAY', steps, [2]), []);
});

const regular = { session_template: 'REGULAR' };
const atTwo: Step = ['07T19:00', 'bars', days(A, ['07'])];
const early: Step = ['13T00:00', 'holidays', [day('*')]];
const wholeDay: Step = ['14T00:00', 'holidays', [day('*', regular)]];

test('a day that was imported before its close is not served, whatever its session was thought to be (contract 3.9)', async () => {
  assert.deepEqual(await served(A, 'DAY', [early, atTwo]), ['07T14:30 07T18:00 1']);
  assert.deepEqual(await served(A, 'DAY', [atTwo, early]), ['07T14:30 07T18:00 1']);
  assert.deepEqual(await served(A, 'DAY', [wholeDay, atTwo]), []);
  assert.deepEqual(await served(A, 'DAY', [early, atTwo, wholeDay]), []);
  assert.deepEqual(await served(A, 'DAY', [atTwo, early, wholeDay]), []);
  // A later import holds the day, with another value or as it was.
  const corrected: Step = ['08T03:00', 'bars', [{ ...days(A, ['07'])[0], volume: 2 }]];
  assert.deepEqual(await served(A, 'DAY', [early, atTwo, corrected, wholeDay]), ['07T14:30 07T21:00 2']);
  const again: Step = ['08T03:00', 'bars', days(A, ['06', '07'])];
  const both = ['06T14:30 06T21:00 1', '07T14:30 07T21:00 1'];
  assert.deepEqual(await served(A, 'DAY', [atTwo, again, early, wholeDay]), both);
  assert.deepEqual(await served(A, 'DAY', [early, atTwo, again, wholeDay]), both);
  // The same bytes again are as old as they were.
  const same: Step = ['08T03:00', 'bars', days(A, ['07'])];
  assert.deepEqual(await served(A, 'DAY', [atTwo, same, wholeDay]), []);
});

test('undos of bars and of holidays leave what was imported before its close unserved (contract 3.9, 10)', async () => {
  assert.deepEqual(await served(A, 'DAY', [early, atTwo], [1]), []);
  assert.deepEqual(await served(A, 'DAY', [early, atTwo, wholeDay], [3]), ['07T14:30 07T18:00 1']);
  assert.deepEqual(await served(A, 'DAY', [atTwo, early], [2]), []);
  const corrected: Step = ['08T03:00', 'bars', [{ ...days(A, ['07'])[0], volume: 2 }]];
  assert.deepEqual(await served(A, 'DAY', [early, atTwo, corrected, wholeDay], [3]), []);
  assert.deepEqual(await served(A, 'DAY', [atTwo, corrected, early], [2]), ['07T14:30 07T18:00 1']);
  // The value of the evening is back, without the mark of the one that replaced it.
  const steps = [early, corrected, atTwo, wholeDay];
  assert.deepEqual(await served(A, 'DAY', steps), []);
  assert.deepEqual(await served(A, 'DAY', steps, [3]), ['07T14:30 07T21:00 2']);
});

test('a calendar key finds anew which bars are finished (contract 3.7, 3.9)', async () => {
  // At 17:00 in London its session is over; in New York it is noon.
  const day: Step = ['07T17:00', 'bars', days(A, ['07'])];
  const key: Step = ['13T00:00', 'instruments', [london]];
  assert.deepEqual(await served(A, 'DAY', [day]), []);
  assert.equal((await inEachOrder(A, 'DAY', day, key)).length, 1);
  assert.deepEqual(await served(A, 'DAY', [day, key], [2]), []);
});

test('imports, holidays and undos in any order serve what the last import of a bar held after its close (contract 3.9)', async () => {
  const bars = fc.record({
    interval: fc.constantFrom('DAY', '60M'),
    startMs: fc.integer({ min: 0, max: 40 }).map((quarter) => at('07T17:30') + quarter * 900_000),
  });
  const holiday = fc.constantFrom('18:00', '19:30', 'REGULAR');
  const undo = fc.nat();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(bars, bars, holiday, undo), { minLength: 3, maxLength: 9 }),
      async (steps) => {
        // An instrument has one interval: days are derived from hours.
        const asked = new AskedBars(A);
        const hours = new AskedBars(B, asked.url);
        const live: { readonly run: number; readonly step: (typeof steps)[number] }[] = [];
        let runs = 0;
        for (const step of steps) {
          if (typeof step === 'number') {
            const [gone] = live.length === 0 ? [] : live.splice(step % live.length, 1);
            if (gone === undefined) continue;
            await write(asked, (store) =>
              undoRun(store, { runId: gone.run, dryRun: false, nowMs: Date.now }),
            );
            continue;
          }
          live.push({ run: ++runs, step });
          asked.nowMs = typeof step === 'string' ? at('13T00:00') : step.startMs;
          if (typeof step === 'string') {
            const more = step === 'REGULAR' ? regular : { close_timestamp: `2024-02-07T${step}:00Z` };
            // Each has a name of its own: none leaves a row as it is.
            await asked.import([{ ...day('*', more), name: `Day ${runs}` }], 'holidays');
          } else {
            const isDay = step.interval === 'DAY';
            const datetime = isDay ? '2024-02-07' : '2024-02-07T17:30:00Z';
            await asked.import(
              [{ ...(isDay ? A : B), interval: step.interval, datetime, ...flat, volume: runs }],
              'bars',
              false,
            );
          }
        }
        const last = live.findLast(({ step }) => typeof step === 'string')?.step ?? 'REGULAR';
        const dayMs = at(last === 'REGULAR' ? '07T21:00' : `07T${last as string}`);
        for (const [of, interval, closeMs] of [
          [asked, 'DAY', dayMs],
          [hours, '60M', Math.min(dayMs, at('07T18:30'))],
        ] as const) {
          const held = live.findLast(({ step }) => typeof step === 'object' && step.interval === interval);
          if (held === undefined) continue;
          const isServed = (held.step as { startMs: number }).startMs >= closeMs;
          const found = (await answers(of, interval)).map((bar) => bar.split(' ').at(-1));
          assert.deepEqual(found, isServed ? [String(held.run)] : [], interval);
        }
        await hours.close();
        await asked.close();
      },
    ),
    { numRuns: RUNS },
  );
});

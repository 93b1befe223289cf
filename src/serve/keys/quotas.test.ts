// Quotas over one control file: by one process exactly, by several within a bound, across restarts (contract
// 7.3).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fc, times } from '../../../test/seed.ts';
import { TestFolder } from '../../../test/stores.ts';
import type { Observation } from '../../base/observe.ts';
import { type ApiKey, addQuotaUses } from '../../store/control.ts';
import { openControl } from '../../store/engines.ts';
import type { RowStore } from '../../store/store.ts';
import { issueKey, noTerms } from './api-keys.ts';
import { Quotas } from './quotas.ts';

const temporary = new TestFolder();
const storeUrl = temporary.storeUrl();
// An opening each, as workers have them.
const controls: RowStore[] = [];
for (let count = 0; count < 3; count++) controls.push(await openControl(storeUrl, 'write'));
after(async () => {
  for (const control of controls) await control.close();
  temporary.close();
});

const NOON = Date.parse('2025-03-03T12:00:00Z');
let nowMs = NOON;
const observed: Observation[] = [];

const openQuotas = (control: RowStore): Quotas =>
  new Quotas({
    addUses: (uses) => addQuotaUses(control, uses, () => nowMs),
    observe: (observation) => observed.push(observation),
    nowMs: () => nowMs,
  });

async function keyWith(terms: { perMinute?: number; perDay?: number }): Promise<ApiKey> {
  return (await issueKey(controls[0]!, 'quota', { ...noTerms, ...terms }, nowMs)).key;
}

async function admits(quotas: Quotas, key: ApiKey): Promise<boolean> {
  return (await quotas.count(key))!.isAdmitted;
}

async function countAdmitted(quotas: Quotas, key: ApiKey, requests: number): Promise<number> {
  const asked = Array.from({ length: requests }, () => admits(quotas, key));
  return (await Promise.all(asked)).filter(Boolean).length;
}

test('a key without a quota is not counted at all (contract 7.3)', async () => {
  const quotas = openQuotas({
    ...controls[0]!,
    write: () => Promise.reject(new Error('the control file was asked')),
  });
  assert.equal(quotas.count(await keyWith({})), null);
  await quotas.close();
});

test('one process admits exactly as many requests as the quota has, also at once (contract 7.3)', async () => {
  for (const perMinute of [1, 7, 100]) {
    const quotas = openQuotas(controls[0]!);
    assert.equal(await countAdmitted(quotas, await keyWith({ perMinute }), 2 * perMinute), perMinute);
    await quotas.close();
  }
});

test('the answer tells the tighter quota, and the next minute begins anew while the day goes on (contract 7.5)', async () => {
  nowMs = NOON + 15_500;
  const quotas = openQuotas(controls[0]!);
  const key = await keyWith({ perMinute: 2, perDay: 3 });
  const told = async () => {
    const { isAdmitted, quota } = (await quotas.count(key))!;
    return [isAdmitted, quota.span, quota.limit, quota.remaining, quota.resetSeconds];
  };
  assert.deepEqual(await told(), [true, 'minute', 2, 1, 45]);
  assert.deepEqual(await told(), [true, 'minute', 2, 0, 45]);
  assert.deepEqual(await told(), [false, 'minute', 2, 0, 45]);
  nowMs = NOON + 60_000;
  assert.deepEqual(await told(), [true, 'day', 3, 0, 12 * 3600 - 60]);
  assert.deepEqual(await told(), [false, 'day', 3, 0, 12 * 3600 - 60]);
  nowMs = NOON + 12 * 3_600_000;
  assert.deepEqual(await told(), [true, 'minute', 2, 1, 60]);
  await quotas.close();
});

test('of two quotas with as much left the one of the day is reported, which lasts longer (contract 7.5)', async () => {
  nowMs = NOON;
  const quotas = openQuotas(controls[0]!);
  assert.equal((await quotas.count(await keyWith({ perMinute: 2, perDay: 2 })))!.quota.span, 'day');
  await quotas.close();
});

test('a request that is given back can be made again (contract 7.3)', async () => {
  const quotas = openQuotas(controls[0]!);
  const key = await keyWith({ perDay: 1 });
  const counted = (await quotas.count(key))!;
  assert.equal(await admits(quotas, key), false);
  assert.equal(counted.giveBack().remaining, 1);
  assert.equal(await admits(quotas, key), true);
  assert.equal(await admits(quotas, key), false);
  await quotas.close();
});

test('a request of the minute before that is given back adds nothing to this one (contract 7.3)', async () => {
  nowMs = NOON + 59_000;
  const quotas = openQuotas(controls[0]!);
  const counted = (await quotas.count(await keyWith({ perMinute: 5 })))!;
  nowMs = NOON + 60_000;
  assert.equal(counted.giveBack().remaining, 5);
  await quotas.close();
});

test('after the clock was set back the requests of other workers are counted at once (contract 7.3)', async () => {
  nowMs = NOON + 40_000;
  const [one, other] = [openQuotas(controls[0]!), openQuotas(controls[1]!)];
  const key = await keyWith({ perMinute: 1_000 });
  assert.equal((await one.count(key))!.quota.remaining, 999);
  assert.equal(await countAdmitted(other, key, 10), 10);
  await other.close();
  nowMs = NOON + 20_000;
  assert.equal((await one.count(key))!.quota.remaining, 988);
  await one.close();
});

test('a minute that begins while the others learn of the last one starts with its whole quota (contract 7.3)', async () => {
  nowMs = NOON + 50_000;
  let meanwhile = (): void => undefined;
  const slow: RowStore = {
    ...controls[0]!,
    write: async (work) => {
      const result = await controls[0]!.write(work);
      meanwhile();
      return result;
    },
  };
  const quotas = openQuotas(slow);
  const key = await keyWith({ perMinute: 200 });
  const counted = (await quotas.count(key))!;
  assert.equal(await countAdmitted(quotas, key, 2), 2);
  nowMs = NOON + 55_000;
  meanwhile = () => {
    nowMs = NOON + 60_000;
    counted.giveBack();
    meanwhile = () => undefined;
  };
  assert.equal(await countAdmitted(quotas, key, 300), 200);
  await quotas.close();
});

test('a restart gives no new quota within the day, and a new day does (contract 7.3)', async () => {
  nowMs = NOON;
  const key = await keyWith({ perDay: 500 });
  const before = openQuotas(controls[0]!);
  assert.equal(await countAdmitted(before, key, 333), 333);
  await before.close();
  const restarted = openQuotas(controls[1]!);
  assert.equal(await countAdmitted(restarted, key, 333), 167);
  await restarted.close();
  nowMs += 86_400_000;
  const nextDay = openQuotas(controls[2]!);
  assert.equal(await countAdmitted(nextDay, key, 600), 500);
  await nextDay.close();
});

test('each further worker lets a fiftieth of the quota too much through at the most, and none too little (contract 7.3)', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 300 }),
      fc.array(fc.tuple(fc.nat(2), fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 700 })), {
        minLength: 1,
        maxLength: 30,
      }),
      async (perDay, turns) => {
        nowMs = NOON;
        const key = await keyWith({ perDay });
        const workers = controls.map(openQuotas);
        const [asked, admitted] = [
          [0, 0, 0],
          [0, 0, 0],
        ];
        for (const [worker, requests, pauseMs] of turns) {
          asked[worker]! += requests;
          admitted[worker]! += await countAdmitted(workers[worker]!, key, requests);
          nowMs += pauseMs;
        }
        for (const worker of workers) await worker.close();
        const [wanted, got] = [asked, admitted].map((counts) => counts.reduce((sum, one) => sum + one, 0));
        const tooMuch = 2 * Math.max(1, Math.floor(perDay / 50));
        assert.ok(got! >= Math.min(wanted!, perDay), `${got} of ${wanted} with a quota of ${perDay}`);
        assert.ok(got! <= perDay + tooMuch, `${got} with a quota of ${perDay}`);
      },
    ),
    { numRuns: times(30) },
  );
});

test('requests between two looks at the control file cost no write (contract 7.3)', async () => {
  nowMs = NOON;
  let writes = 0;
  const [control] = controls;
  const quotas = openQuotas({
    ...control!,
    write: (work) => {
      writes++;
      return control!.write(work);
    },
  });
  const key = await keyWith({ perMinute: 100_000 });
  for (let count = 0; count < 1_000; count++) assert.equal(await admits(quotas, key), true);
  assert.equal(writes, 1);
  await quotas.close();
  assert.equal(writes, 2);
});

test('a control file that cannot be written to is a fault in the log, and the quota holds within the worker', async () => {
  nowMs = NOON;
  observed.length = 0;
  const [control] = controls;
  let isBroken = true;
  const quotas = openQuotas({
    ...control!,
    write: (work) => (isBroken ? Promise.reject(new Error('no room')) : control!.write(work)),
  });
  const key = await keyWith({ perDay: 10 });
  assert.equal(await countAdmitted(quotas, key, 20), 10);
  assert.deepEqual(
    observed.map(({ kind }) => kind),
    ['fault'],
  );
  isBroken = false;
  await quotas.close();
  const other = openQuotas(controls[1]!);
  assert.equal(await admits(other, key), false);
  await other.close();
});

test('requests do not wait for a control file that stays locked: this process counts alone, and reports later (contract 7.3)', async () => {
  nowMs = NOON;
  const [control, other] = controls;
  const lock = Promise.withResolvers<void>();
  const quotas = new Quotas({
    addUses: async (uses) => {
      await lock.promise;
      return addQuotaUses(control!, uses, () => nowMs);
    },
    observe: (observation) => observed.push(observation),
    nowMs: () => nowMs,
  });
  const key = await keyWith({ perDay: 10 });
  const elsewhere = openQuotas(other!);
  assert.equal(await countAdmitted(elsewhere, key, 4), 4);
  await elsewhere.close();
  assert.equal(await countAdmitted(quotas, key, 12), 10, 'it cannot know of the other four');
  lock.resolve();
  await quotas.close();
  const after = openQuotas(other!);
  const { quota } = (await after.count(key))!;
  assert.equal(quota.remaining, 0);
  await after.close();
});

test('a late report of yesterday does not replace the count of today; after a clock set back, today counts (contract 7.3)', async () => {
  const [control] = controls;
  const { key_id } = await keyWith({ perDay: 100 });
  const use = (from_ms: number, used: number) => ({ key_id, span: 'day', from_ms, used });
  const DAY_MS = 86_400_000;
  const today = NOON - (NOON % DAY_MS);
  const report = async (from_ms: number, used: number, atMs: number): Promise<number> =>
    (await addQuotaUses(control!, [use(from_ms, used)], () => atMs))[0]!.used;
  assert.equal(await report(today, 5, NOON), 5);
  assert.equal(await report(today - DAY_MS, 7, NOON), 7);
  assert.equal(await report(today, 0, NOON), 5);
  assert.equal(await report(today + DAY_MS, 1, NOON + DAY_MS), 1);
  assert.equal(await report(today, 3, NOON), 3);
  assert.equal(await report(today, 1, NOON), 4);
});

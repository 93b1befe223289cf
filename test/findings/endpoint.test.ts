// The endpoint of findings: pages, filters and what a commit changes (contract 9.10, 4.1, 4.2).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { parseParameters } from '../../src/contract/endpoint.ts';
import { findingKinds } from '../../src/contract/findings.ts';
import { contract, type Endpoint } from '../../src/contract/index.ts';
import { QueryRunner } from '../../src/queries/index.ts';
import { TooDear } from '../../src/queries/query.ts';
import { openStore } from '../../src/store/engines.ts';
import type { Store } from '../../src/store/store.ts';
import { Random } from '../fuzz/random.ts';
import { TestFolder } from '../stores.ts';
import { CheckedStore, dateOf, NOW_MS, newYorkDate, rowsOfBars, sessionsOf, walk } from './world.ts';

const folder = new TestFolder();
const days = sessionsOf('2023-01-03', '2024-06-03');
const filled = new CheckedStore(folder, 'endpoint');
let store: Store;
let runner: QueryRunner;

/** Bars of a seed with many faults of several kinds. */
function faulty(seed: number) {
  const random = new Random(seed);
  const bars = walk(random, days);
  for (let at = 30; at < bars.length - 30; at += 10) {
    bars[at]!.high *= 2;
    bars[at]!.low /= 2;
    bars[at + 5] = { ...bars[at + 4]!, day: bars[at + 5]!.day };
    bars[at + 2]!.vwap = bars[at + 2]!.high * 1.5;
  }
  bars.splice(100, 2);
  return bars;
}

before(async () => {
  await filled.fill('bars', [rowsOfBars('BAD', faulty(1)), rowsOfBars('GOOD', walk(new Random(2), days))]);
  store = await openStore(filled.url, 'write');
  runner = new QueryRunner(store, new Uint8Array(32).fill(7));
});
after(async () => {
  await store.close();
  folder.close();
});

type Row = Readonly<Record<string, string | number | null>>;
type Page = { readonly count: number; readonly next_page_key: string | null; readonly data: readonly Row[] };

async function ask(texts: Readonly<Record<string, string>>, using = runner) {
  const declared: Endpoint = contract.findings;
  const named = { schema_asset: 'stock', country_symbol: 'US:BAD', ...texts };
  const parameters = parseParameters(declared, new Map(Object.entries(named)));
  return using.run({ endpoint: 'findings', parameters, nowMs: NOW_MS, wrapCsv: false });
}

async function page(texts: Readonly<Record<string, string>>): Promise<Page> {
  const answer = await ask(texts);
  if (answer.kind === 'refusal') assert.fail(answer.facts.message);
  return (JSON.parse(Buffer.from(answer.body).toString()) as { result: Page }).result;
}

async function list(texts: Readonly<Record<string, string>>, limit: number): Promise<Row[]> {
  const found: Row[] = [];
  for (let key: string | null = ''; key !== null; ) {
    const { data, next_page_key }: Page = await page({ ...texts, limit: `${limit}`, next_page_key: key });
    assert.ok(data.length > 0 || (key === '' && next_page_key === null), 'no page is empty');
    found.push(...data);
    key = next_page_key;
  }
  return found;
}

const instant = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}+00:00`;

test('every walk gives each finding of the check once, in its order, whatever the filters (contract 9.10, 4.1, 4.2)', async () => {
  const checked = (await filled.check()).filter(({ symbol }) => symbol === 'BAD');
  const all = checked.map(({ fromMs, toMs, runId, kind, severity, interval, value, expected, message }) => ({
    ...{ kind, severity, interval, from_datetime: instant(fromMs), to_datetime: instant(toMs) },
    ...{ value, expected, message, run_id: runId },
  }));
  assert.ok(all.length > 90, `${all.length}`);
  const random = new Random(5);
  for (let round = 0; round < 60; round++) {
    const [from, to] = [random.below(days.length - 20), random.below(days.length)].sort((a, b) => a - b);
    const texts = {
      ...(random.chance(0.5) && { from_date: dateOf(days[from!]!), to_date: dateOf(days[to!]!) }),
      ...(random.chance(0.4) && { kind: random.anyCase(random.pick(findingKinds)) }),
      ...(random.chance(0.3) && { severity: random.pick(['info', 'warning', 'error']) }),
      ...(random.chance(0.3) && { interval: random.pick(['day', '1M']) }),
      sort: random.pick(['asc', 'DESC']),
    };
    const wanted = all.filter(
      (one, at) =>
        (texts.kind === undefined || one.kind === texts.kind.toLowerCase()) &&
        (texts.severity === undefined || one.severity === texts.severity) &&
        (texts.interval === undefined || texts.interval === 'day') &&
        (texts.from_date === undefined || newYorkDate(checked[at]!.toMs - 1) >= texts.from_date) &&
        (texts.to_date === undefined || newYorkDate(checked[at]!.fromMs) <= texts.to_date),
    );
    const found = await list(texts, random.pick([1, 3, 1000]));
    assert.deepEqual(found, texts.sort === 'asc' ? wanted : wanted.reverse(), JSON.stringify(texts));
  }
});

/** Every session of BAD with a bar. */
async function sessionsWithBars(): Promise<Row[]> {
  const found: Row[] = [];
  for (let key: string | null = ''; key !== null; ) {
    const texts = { schema_asset: 'stock', country_symbol: 'US:BAD', limit: '100', next_page_key: key };
    const parameters = parseParameters(contract.sessionCoverage, new Map(Object.entries(texts)));
    const answer = await runner.run({
      ...{ endpoint: 'sessionCoverage', parameters, nowMs: NOW_MS, wrapCsv: false },
    });
    if (answer.kind === 'refusal') assert.fail(answer.facts.message);
    const { data, next_page_key } = (JSON.parse(Buffer.from(answer.body).toString()) as { result: Page })
      .result;
    found.push(...data.filter(({ bars }) => bars !== 0));
    key = next_page_key;
  }
  return found;
}

test('the degraded sessions are those that a warning or an error touches (contract 9.9, 9.10)', async () => {
  const faults = (await list({}, 1000)).filter(({ severity }) => severity !== 'info');
  // Regular hours of New York are within one date of UTC.
  const dates = faults.map((one) =>
    [one.from_datetime, one.to_datetime].map((text) => String(text).slice(0, 10)),
  );
  const sessions = await sessionsWithBars();
  assert.equal(sessions.length, days.length - 2);
  for (const { session_date: date, condition } of sessions) {
    const isTouched = dates.some(([from, to]) => from! <= String(date) && String(date) <= to!);
    assert.equal(condition, isTouched ? 'degraded' : 'available', String(date));
  }
  const degraded = sessions.filter(({ condition }) => condition === 'degraded').length;
  assert.ok(degraded > 50 && degraded < sessions.length / 2, `${degraded}`);
});

test('a finding changes with the bars of other series, and a walk goes on beside it (contract 9.10, 4.1)', async () => {
  const first = await page({ kind: 'missing_session' });
  assert.equal(first.count, 1);
  const begun = await page({ limit: '2' });
  const day = days[200]!;
  const lower = rowsOfBars(
    'BAD',
    faulty(1).filter((bar) => bar.day === day),
  ).map((row) => ({ ...row, volume: 5 }));
  const [run] = await filled.fill('bars', [lower]);
  const [conflict] = (await page({ kind: 'conflicting_imports' })).data;
  assert.deepEqual([conflict?.run_id, conflict?.value, conflict?.severity], [run, 5, 'info']);
  const rest = await page({ limit: '1000', next_page_key: begun.next_page_key! });
  const whole = await page({ limit: '1000' });
  assert.deepEqual(rest.data, whole.data.slice(2));
});

test('CSV has the fields of the record, and an unknown instrument is refused (contract 5.1, 6.3, 9.10)', async () => {
  const answer = await ask({ format: 'csv', kind: 'missing_session' });
  if (answer.kind === 'refusal') assert.fail(answer.facts.message);
  const [head, row] = Buffer.from(answer.body).toString().split('\r\n');
  assert.equal(head, 'kind,severity,interval,from_datetime,to_datetime,value,expected,message,run_id');
  assert.match(row!, /^missing_session,warning,DAY,.*,2,0,"?2 sessions without a bar, at most 60/);
  const refused = await ask({ country_symbol: 'US:NONE' });
  assert.equal(refused.kind === 'refusal' && refused.word, 'unknown_instrument');
  const early = await ask({ from_date: '2024-02-02', to_date: '2024-02-01' });
  assert.deepEqual(early.kind === 'refusal' && [early.word, early.facts.param], [
    'invalid_parameter',
    'from_date',
  ]);
});

test('a lane leaves an instrument with more bars than it may read to another one', async () => {
  const small = new QueryRunner(store, new Uint8Array(32).fill(7), {
    baseBarsMax: 100,
    charactersMax: 1_000_000,
  });
  await assert.rejects(ask({}, small), TooDear);
});

// Both engines side by side: the same imports, corrections, deletions and undos, and between them the same random requests.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileDatasetNamed } from '../../src/datasets/index.ts';
import { apiKeys } from '../../src/datasets/internal.ts';
import { deleteBars } from '../../src/history/delete-bars.ts';
import { deleteRows } from '../../src/history/delete-rows.ts';
import { RequestProblem } from '../../src/history/request-problem.ts';
import { newestRuns, undoRun } from '../../src/history/undo-run.ts';
import type { RequestHandler } from '../../src/http/handler.ts';
import { importFile } from '../../src/loading/importers.ts';
import { contentHash } from '../../src/store/content.ts';
import { readKeys } from '../../src/store/control.ts';
import { openControl, openStore } from '../../src/store/engines.ts';
import type { RowStore, Store } from '../../src/store/store.ts';
import type { Known } from '../fuzz/answers.ts';
import { ask, handlerOn, issueKeys, NOW_MS, pageKeysOf } from '../fuzz/in-process.ts';
import { Random } from '../fuzz/random.ts';
import { fillings } from '../fuzz/store.ts';
import { makeTrial, type Trial } from '../fuzz/trial.ts';
import { type FileRow, fillStore, rowsFile } from '../importing.ts';
import { opened } from '../service.ts';
import { fileStore } from '../sqlite/files.ts';

/** Requests between two changes. */
const REQUESTS_A_CHANGE = 40;

/** Pages that are asked for behind an answer, and the rows of a short one. */
const PAGES = 2;
const SHORT_PAGE = 2;

/** Both engines hold the same, so each run is of one of its newest. */
const RUNS = 12;

/** A store of one engine, and a request handler on it. */
class Side {
  readonly #store: Store;
  readonly #serving: Store;
  readonly #control: RowStore;
  readonly #folder: string;
  readonly handler: RequestHandler;

  private constructor(stores: readonly [Store, Store], control: RowStore, folder: string) {
    [this.#store, this.#serving] = stores;
    this.#control = control;
    this.#folder = folder;
    this.handler = handlerOn(this.#serving, control);
  }

  static async open(url: string, folder: string): Promise<Side> {
    await fillStore(url, folder, NOW_MS, fillings);
    const stores = [await openStore(url, 'write'), await openStore(url, 'serve')] as const;
    return new Side(stores, await openControl(url, 'write'), folder);
  }

  /** Issues keys here. */
  issue(): Promise<Omit<Known, 'pageKeys'>> {
    return issueKeys(this.#control);
  }

  /** Takes the keys of the other side. */
  async takeKeys(other: Side): Promise<void> {
    const keys = await readKeys(other.#control);
    await this.#control.write((writer) => writer.upsert(apiKeys, keys));
  }

  /** Makes a change; what its report says, without times. */
  async make(change: Change): Promise<unknown> {
    try {
      return withoutTimes(await change(this.#store, this.#folder));
    } catch (error) {
      if (error instanceof RequestProblem) return error.message;
      throw error;
    }
  }

  hash(): Promise<string> {
    return this.#store.snapshot(contentHash);
  }

  async close(): Promise<void> {
    await this.#serving.close();
    await this.#store.close();
    await this.#control.close();
  }
}

/** A change of a store; it gives a report. */
type Change = (store: Store, folder: string) => Promise<unknown>;

const withoutTimes = (report: unknown): unknown =>
  JSON.parse(JSON.stringify(report, (name, value) => (/^duration|_ms$|Ms$/.test(name) ? 0 : value)));

const about = { dryRun: false, nowMs: () => NOW_MS };

/** An import of some rows of the fuzzer's data, some of them changed: a correction, or the same again. */
function importOf(random: Random): Change {
  const [dataset, rows] = random.pick(fillings);
  const chosen = rows.filter(() => random.chance(0.3));
  const some = (chosen.length > 0 ? chosen : rows).map((row) => changed(random, row));
  return async (store, folder) => {
    const file = await opened(rowsFile(`${folder}/${dataset}.ndjson`, some));
    const how = { flags: new Map<string, string>(), zone: null, basis: 'raw', source: null } as const;
    const report = await importFile(store, dataset, { file, ...how, ...about });
    await file.close();
    // Its name has the time.
    return { ...report, rejectedFile: report.rejectedFile !== null };
  };
}

/** Columns that a correction changes, and by what. */
const corrections: Readonly<Record<string, (random: Random) => unknown>> = {
  close: (random) => random.pick([1, 1.5, 2, 3]),
  volume: (random) => random.below(1_000),
  name: (random) => `Name ${random.below(5)}`,
  text_content: (random) => random.pick([null, 'Told again', '"']),
  cash_amount: (random) => random.below(100) / 8,
  status: (random) => random.pick(['active', 'inactive']),
  actual_value: (random) => random.pick([null, 0, -1.5, 12]),
  description: (random) => `What ${random.below(5)}`,
  priority: (random) => random.below(90) + 1,
};

function changed(random: Random, row: FileRow): FileRow {
  const columns = Object.keys(corrections).filter((column) => row[column] != null);
  if (columns.length === 0 || random.chance(0.4)) return row;
  const column = random.pick(columns);
  return { ...row, [column]: corrections[column]!(random) };
}

/** A deletion of the rows of some dataset, or of bars of an instrument. */
function deletionOf(random: Random): Change {
  const [dataset, rows] = random.pick(fillings);
  const row = random.pick(rows) as Readonly<Record<string, string>>;
  if (dataset === 'bars' || dataset === 'instruments') {
    const named = { assetSchema: null, country: row.country_iso_code!, symbol: row.symbol! };
    const range = { interval: null, from: null, to: null };
    return (store) => deleteBars(store, { ...named, ...range, ...about, words: 'bars' });
  }
  const choices: readonly Readonly<Record<string, string | undefined>>[] = [
    { '--country': row.country_iso_code, '--symbol': row.symbol },
    { '--country': row.country_iso_code, '--event-code': row.event_code },
  ];
  const flags = Object.fromEntries(
    Object.entries(random.pick(choices)).filter((entry): entry is [string, string] => entry[1] != null),
  );
  const request = { flags, dataset: fileDatasetNamed(dataset)!, ...about, words: 'rows' };
  return (store) => deleteRows(store, request);
}

/** An undo of one of the newest runs, undone already or not. */
function undoOf(random: Random): Change {
  const place = random.below(RUNS);
  return async (store) => {
    const runs = await store.snapshot((reader) => newestRuns(reader, RUNS));
    return undoRun(store, { runId: runs[place % runs.length]!.run_id, ...about });
  };
}

const changeOf = (random: Random): Change =>
  random.chance(0.5) ? importOf(random) : random.chance(0.5) ? undoOf(random) : deletionOf(random);

/** A request identifier is another one in each answer. */
const withoutId = (text: string): string => text.replace(/"request_id":"[^"]*"/g, '"request_id":"…"');

/** On a busy machine the server may not answer in time: the refusal says to ask again, and so often that is done. */
const TRIES_MAX = 10;
const UNAVAILABLE = 503;

/** What of an answer must be equal. */
async function answerOf(handler: RequestHandler, trial: Trial) {
  let { reply } = await ask(handler, trial);
  for (let tries = 1; reply.status === UNAVAILABLE && tries < TRIES_MAX; tries++) {
    await wait(1_000);
    ({ reply } = await ask(handler, trial));
  }
  const { 'x-request-id': _, ...headers } = Object.fromEntries(reply.headers);
  return { status: reply.status, headers, body: withoutId(reply.body) };
}

type Answer = Awaited<ReturnType<typeof answerOf>>;

/** Keys of the next page in an answer. */
const nextPageOf = (body: string): string | null => /"next_page_key":"([^"]+)"/.exec(body)?.[1] ?? null;

/** The same request for its next page. */
const behind = (trial: Trial, key: string): Trial => ({
  ...trial,
  target: `${trial.target.replace(/&?next_page_key=[^&]*/g, '')}&next_page_key=${key}`,
});

/** The same request for short pages, where it has pages. */
function inShortPages(trial: Trial): Trial | null {
  if (Number.isNaN(trial.limit)) return null;
  const target = trial.target.replace(/(?<=[?&])(limit|next_page_key)=[^&]*&?/g, '').replace(/[?&]$/, '');
  return { ...trial, target: `${target}${target.includes('?') ? '&' : '?'}limit=${SHORT_PAGE}` };
}

/** What a comparison counts. */
export type Compared = {
  readonly requests: number;
  readonly good: number;
  readonly pages: number;
  readonly changes: number;
  readonly writes: number;
};

/**
 * The same requests and changes on a new store in a folder and an empty one in PostgreSQL.
 * @throws at the first difference, with all that is needed to make it again
 */
export async function compareEngines(
  url: string,
  folder: string,
  { seed, count }: { readonly seed: number; readonly count: number },
): Promise<Compared> {
  const one = await Side.open(fileStore(join(folder, 'lite.db')), folder);
  const other = await Side.open(url, folder);
  const compared = { requests: 0, good: 0, pages: 0, changes: 0, writes: 0 };
  try {
    const keys = await one.issue();
    await other.takeKeys(one);
    const pageKeys = await pageKeysOf(one.handler, keys);
    assert.deepEqual(await pageKeysOf(other.handler, keys), pageKeys);
    const same = async (trial: Trial, what: string): Promise<Answer> => {
      const [answer, beside] = await Promise.all([
        answerOf(one.handler, trial),
        answerOf(other.handler, trial),
      ]);
      assert.deepEqual(beside, answer, `${what}: ${trial.method} ${trial.target}`);
      compared.requests++;
      if (answer.status === 200) compared.good++;
      return answer;
    };
    const walk = async (trial: Trial, what: string): Promise<boolean> => {
      const first = await same(trial, what);
      let key = nextPageOf(first.body);
      for (let page = 0; page < PAGES && key !== null; page++, compared.pages++)
        key = nextPageOf((await same(behind(trial, key), what)).body);
      return first.status === 200;
    };
    for (let index = 0; compared.requests < count; index++) {
      const what = `seed ${seed}, step ${index}`;
      if (index % REQUESTS_A_CHANGE === REQUESTS_A_CHANGE - 1) {
        const change = changeOf(new Random(seed + 1, index));
        const [report, beside] = [await one.make(change), await other.make(change)];
        assert.deepEqual(beside, report, what);
        assert.equal(await other.hash(), await one.hash(), what);
        compared.changes++;
        if (typeof report !== 'string') compared.writes++;
        continue;
      }
      const trial = makeTrial(new Random(seed, index), { ...keys, pageKeys });
      const short = inShortPages(trial);
      if ((await walk(trial, what)) && short !== null) await walk(short, what);
    }
    return compared;
  } finally {
    for (const side of [one, other]) await side.close();
  }
}

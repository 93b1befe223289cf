// An answer from an earlier version of the stored data is what was answered then (contract 9.12): commits of
// every kind, and requests to every endpoint that were answered before them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contract, type Endpoint } from '../../src/contract/index.ts';
import { changes, fill, passTime, requests, World } from '../commit-world.ts';
import type { Known } from '../fuzz/answers.ts';
import { Random } from '../fuzz/random.ts';
import { fillings } from '../fuzz/store.ts';
import { makeTrial, wholeEndpoints } from '../fuzz/trial.ts';
import { collectPageKeys } from '../fuzz/walk.ts';
import { seed, times } from '../seed.ts';

const ROUNDS = times(1);
const ASKED_PER_VERSION = 20;
const ASKED_AGAIN = 8;

/** Endpoints that take `data_version`. */
const versioned = Object.entries<Endpoint>(contract)
  .filter(([, { parameters }]) => 'data_version' in parameters)
  .map(([name]) => name);

/** Requests for what is stored. */
const ofData = requests.filter((path) => path !== '/server/address_info');

/** The records of runs are there also for versions of a run that was undone since. */
const isOfRuns = (path: string): boolean => path.startsWith('/server/runs');

/** Good requests of the fuzzer to every endpoint. */
function triedRequests(known: Known, count: number): string[] {
  const found: string[] = [];
  for (let index = 0; found.length < count; index++) {
    const { endpoint, method, right, target, keyInQuery } = makeTrial(
      new Random(seed, index),
      known,
      wholeEndpoints,
    );
    if (!versioned.includes(endpoint) || method !== 'GET' || !right.includes('ok') || !keyInQuery) continue;
    const path = target.slice('/api/v2'.length).replace(/(?<=[?&])secret_key=[^&]*&?/i, '');
    if (target.includes('page_key') || !target.startsWith('/api/v2/') || !/^[^?#]*\?[^?#]*$/.test(path))
      continue;
    found.push(path);
  }
  return found;
}

/** The body without what names the request: its next page. */
const bodyOf = (text: string): string =>
  text.replaceAll(/"(next_page_key|next_page_url)":"[^"]*"/g, '"$1":"there is one"');

type Told = {
  readonly path: string;
  readonly version: number;
  /** The clock of the answer. */
  readonly nowMs: number;
  readonly status: number;
  readonly body: string;
};
type Gone = { readonly from: number; readonly to: number };

const at = (path: string, version: number): string =>
  `${path}${path.includes('?') ? '&' : '?'}data_version=${version}`;

/** A store whose every version is asked about. */
class Asking {
  readonly #world: World;
  readonly #random: Random;
  readonly #requests: readonly string[];
  readonly told: Told[] = [];
  /** Versions that an undo took away: from that of the run to the one before its undoing. */
  readonly gone: Gone[] = [];
  readonly #undone = new Set<number>();
  readonly counts = { same: 0, refused: 0 };
  readonly answered = new Set<string>();

  constructor(world: World, random: Random, known: Known) {
    this.#world = world;
    this.#random = random;
    this.#requests = [...ofData, ...triedRequests(known, 150)];
  }

  async version(): Promise<number> {
    const { headers } = await this.#world.ask('/holiday/holiday_codes/US', 'version');
    return Number(headers['X-Data-Version']);
  }

  /** Notes which runs were undone since the last look. */
  async lookForUndone(): Promise<void> {
    const to = await this.version();
    const { text } = await this.#world.ask('/server/runs?limit=1000&sort=desc', 'runs');
    const { result } = JSON.parse(text) as {
      result: { data: { run: number; undone: boolean; data_version: number }[] };
    };
    for (const { run, undone, data_version } of result.data)
      if (undone && !this.#undone.has(run)) {
        this.#undone.add(run);
        this.gone.push({ from: data_version, to });
      }
  }

  async askNow(): Promise<void> {
    const version = await this.version();
    for (const path of this.#random.shuffle(this.#requests).slice(0, ASKED_PER_VERSION)) {
      const { status, text } = await this.#world.ask(path, `version ${version}`);
      this.told.push({ path, version, nowMs: this.#world.nowMs, status, body: bodyOf(text) });
    }
  }

  /** Answers that are not cached may be asked for at an earlier moment. */
  async #askAt(nowMs: number, path: string) {
    const present = this.#world.nowMs;
    this.#world.nowMs = nowMs;
    try {
      return await this.#world.ask(path, `at ${nowMs}`);
    } finally {
      this.#world.nowMs = present;
    }
  }

  async askAgain(count: number): Promise<void> {
    for (const { path, version, nowMs, status, body } of this.#random.shuffle(this.told).slice(0, count)) {
      const isGone = !isOfRuns(path) && this.gone.some(({ from, to }) => from <= version && version < to);
      const again = await this.#askAt(nowMs, at(path, version));
      const about = `seed ${seed}: ${path} of version ${version}, now ${await this.version()}`;
      if (isGone) {
        this.counts.refused++;
        assert.equal(again.status, 400, about);
        // A request that was wrong then may be refused for that first.
        if (status !== 400) assert.match(again.text, /"param":"data_version"/);
        continue;
      }
      assert.equal(bodyOf(again.text), body, about);
      assert.equal(again.status, status, about);
      if (status !== 200) continue;
      assert.equal(again.headers['X-Data-Version'], String(version), about);
      this.counts.same++;
      this.answered.add(path);
    }
  }
}

test('an answer from an earlier version is the one that was given then, through commits of every kind (contract 9.12)', async (t) => {
  const world = await World.open('versions');
  await world.import(...fillings);
  const send = async (address: string): Promise<string> => {
    const target = `${address}&secret_key=${world.key}`;
    return (await world.send({ method: 'GET', target, headers: { host: 'localhost' } }, address)).text;
  };
  const known = { liveKey: world.key, deadKeys: ['none'], pageKeys: await collectPageKeys(send) };
  await fill(world);
  const random = new Random(seed, 1);
  const asking = new Asking(world, random, known);
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, change] of Object.entries(changes)) {
      await change(world, random);
      passTime(world, random);
      await asking.lookForUndone();
      await asking.askNow();
      await asking.askAgain(ASKED_AGAIN).catch((error: unknown) => {
        throw new Error(`after ${name}: ${(error as Error).message}`, { cause: error });
      });
    }
  await asking.askAgain(1_000);
  const { same, refused } = asking.counts;
  t.diagnostic(
    `seed ${seed}: ${asking.told.length} answers; of those asked again ${same} the same, ${refused} refused`,
  );
  assert.ok(same > 250 * ROUNDS && refused > 10 * ROUNDS);
});

// A number of a version names one state of the data (contract 9.12): through imports, undos, backups,
// restores and copies of a store, with a clock that goes back, every version that any of the stores ever had
// is asked of all of them again.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, test } from 'node:test';
import { newestRuns, undoRun } from '../src/runs/undo-run.ts';
import { copyStore } from '../src/store/copy.ts';
import { backupStore, engineAt, openControl, openStore, restoreStore } from '../src/store/engines.ts';
import { Random } from './fuzz/random.ts';
import { fillStore } from './importing.ts';
import { LocalServer } from './local-server.ts';
import { seed, times } from './seed.ts';
import { fileStore, storeFile } from './sqlite/files.ts';
import { TestFolder } from './stores.ts';

const STEPS = times(15);
const STORES_MAX = 3;
const ASKED_AGAIN = 3;
const DAY_MS = 86_400_000;

/** What answers depend on beside the data stands still. */
const askedMs = Date.parse('2026-01-05T00:00:00Z');

const BARS = '/stock/bars/US:A/DAY/from/2025-05-01/to/2025-05-31?limit=2&sort=asc';
const paths = [
  BARS,
  '/stock/bars/US:B/DAY/latest?format=csv&limit=20&as_of=2025-12-01T00:00:00Z',
  '/stock/bulk/bars/US/DAY/from/2025-05-01/to/2025-05-31?format=csv',
  '/stock/coverage?limit=10',
  '/server/runs?limit=1000',
];

const temporary = new TestFolder();
after(() => temporary.close());

/** What one version answered: each path, and the page after the first under its key. */
type Told = ReadonlyMap<string, string>;

/** A store, its versions that it must still know, and those of them that an undo took away. */
type Place = {
  readonly url: string;
  server: LocalServer;
  versions: Set<number>;
  gone: Set<number>;
};

type Kept = Pick<Place, 'versions' | 'gone'> & { readonly file: string };

class Stores {
  readonly random = new Random(seed, 1);
  /** The clock of imports, restores and copies. */
  nowMs = Date.parse('2025-06-02T12:00:00Z');
  readonly places: Place[] = [];
  readonly backups: Kept[] = [];
  readonly told = new Map<number, Told>();
  readonly counts = { same: 0, never: 0, undone: 0, leaps: 0 };
  #made = 0;

  get now(): () => number {
    return () => this.nowMs;
  }

  async add(url: string, kept: Pick<Place, 'versions' | 'gone'>): Promise<Place> {
    const server = await LocalServer.open(url, () => askedMs);
    const place = { url, server, versions: new Set(kept.versions), gone: new Set(kept.gone) };
    this.places.push(place);
    if (this.places.length > STORES_MAX) await this.places.shift()!.server.close();
    return place;
  }

  freshUrl(isFile: boolean): string {
    const name = `store${++this.#made}`;
    return isFile ? fileStore(temporary.path(`${name}.db`)) : temporary.storeUrl(name);
  }

  get some(): Place {
    return this.random.pick(this.places);
  }

  /** A place whose store is a file, where there is one. */
  get someFile(): Place | undefined {
    const files = this.places.filter(({ url }) => url.startsWith('sqlite:'));
    return files.length === 0 ? undefined : this.random.pick(files);
  }

  async import(): Promise<void> {
    const { url } = this.some;
    const close = 10 + this.random.below(90);
    const day = `2025-05-${this.random.between(19, 23)}`;
    const named = { asset_schema: 'stock', country_iso_code: 'US', interval: 'DAY', datetime: day };
    const bar = { open: close, high: close, low: close, close, volume: 1 };
    await fillStore(url, temporary.folder, this.nowMs, [
      ['bars', [{ ...named, symbol: this.random.pick(['A', 'B']), ...bar }]],
    ]);
  }

  async undo(): Promise<void> {
    const place = this.some;
    const store = await openStore(place.url, 'write');
    try {
      const live = (await store.snapshot((reader) => newestRuns(reader, 3))).filter(
        ({ undone_ms }) => undone_ms === null,
      );
      if (live.length === 0) return;
      const { run_id, data_version } = this.random.pick(live);
      await undoRun(store, { runId: run_id, dryRun: false, nowMs: this.now });
      const version = (await store.version())!;
      for (const one of place.versions) if (one >= data_version! && one < version) place.gone.add(one);
    } finally {
      await store.close();
    }
  }

  async copy(): Promise<void> {
    const from = this.some;
    const to = this.freshUrl(this.random.chance(0.5));
    const [source, control] = [await openStore(from.url, 'read'), await openControl(from.url, 'read')];
    const target = await engineAt(to).openCopyTarget(0, () => undefined);
    const progress = { begins: () => undefined, reached: () => undefined };
    const { version } = await copyStore(source, control, target, progress, this.now);
    for (const one of [target, source, control]) await one.close();
    this.#leapt(version, from.versions);
    await this.add(to, from);
  }

  async backup(): Promise<void> {
    const place = this.someFile;
    if (place === undefined) return;
    const file = temporary.path(`backup${++this.#made}`);
    await backupStore(place.url, file, { force: false, tell: () => undefined, nowMs: this.now });
    const { versions, gone } = place;
    this.backups.push({ file, versions: new Set(versions), gone: new Set(gone) });
  }

  async restore(): Promise<void> {
    const { random } = this;
    if (this.backups.length === 0) return;
    const backup = random.pick(this.backups);
    const over = random.chance(0.7) ? this.someFile : undefined;
    const url = over?.url ?? this.freshUrl(true);
    const before = new Set([...backup.versions, ...(over?.versions ?? [])]);
    if (over !== undefined) {
      await over.server.close();
      this.places.splice(this.places.indexOf(over), 1);
      for (const name of [storeFile(url), storeFile(url).replace(/\.db$/, '.control.db')])
        rmSync(`${name}.before-restore`, { force: true });
    }
    const options = { force: over !== undefined, tell: () => undefined, nowMs: this.now };
    const { version } = await restoreStore(url, backup.file, options);
    this.#leapt(version, before);
    await this.add(url, backup);
  }

  /** A restore or a copy has gone on with a version. */
  #leapt(version: number, before: ReadonlySet<number>): void {
    this.counts.leaps++;
    const newest = Math.max(...before);
    assert.ok(version > newest, `${version} is greater than ${newest}`);
    if (this.nowMs > newest) assert.equal(version, this.nowMs, 'the moment');
    assert.ok(Number.isSafeInteger(version));
  }

  async #ask({ server }: Place, path: string): Promise<{ status: number; version: number; text: string }> {
    const response = await server.get(`/api/v2${path}&secret_key=${server.key}`);
    const text = (await response.text())
      .replaceAll(server.key, 'KEY')
      .replaceAll(/&data_version=\d+/g, '')
      .replaceAll(/"(next_page_key|request_id)":"[^"]*"|&next_page_key=[^"&]*/g, '');
    return { status: response.status, version: Number(response.headers.get('x-data-version')), text };
  }

  /**
   * Notes what the present version of each place answers: the same as every other store that has this
   * version.
   */
  async note(): Promise<void> {
    for (const place of this.places) {
      const { version } = await this.#ask(place, paths.at(-1)!);
      const told = new Map<string, string>();
      for (const path of paths) {
        const { status, text } = await this.#ask(place, path);
        assert.ok(status === 200 || status === 404, text);
        told.set(path, text);
      }
      const key = await this.#pageKey(place, version);
      if (key !== null) {
        const next = `${BARS}&next_page_key=${key}`;
        told.set(next, (await this.#ask(place, `${next}&data_version=${version}`)).text);
      }
      const known = this.told.get(version);
      const compared = [...told].filter(([path]) => known?.has(path));
      for (const [path, text] of compared)
        assert.equal(text, known!.get(path), `seed ${seed}: version ${version} names two states`);
      if (known === undefined) this.told.set(version, told);
      place.versions.add(version);
    }
  }

  /** The key of the second page of a walk that is pinned to a version. */
  async #pageKey({ server }: Place, version: number): Promise<string | null> {
    const response = await server.get(`/api/v2${BARS}&data_version=${version}&secret_key=${server.key}`);
    const { result } = (await response.json()) as { result?: { next_page_key: string | null } };
    return result?.next_page_key ?? null;
  }

  /** Asks a version of a place again. */
  async askAgain(place: Place, version: number): Promise<void> {
    for (const [path, expected] of this.told.get(version)!) {
      const { status, text, ...answer } = await this.#ask(place, `${path}&data_version=${version}`);
      const about = `seed ${seed}: ${path} of ${version} in ${place.url}: ${text}`;
      const isGone = place.gone.has(version) && !path.startsWith('/server/');
      if (place.versions.has(version) && !isGone) {
        assert.equal(text, expected, about);
        if (status === 200) assert.equal(answer.version, version, about);
        this.counts.same++;
        continue;
      }
      assert.equal(status, 400, about);
      assert.match(text, /"param":"data_version"/, about);
      if (isGone) this.counts.undone++;
      else this.counts.never++;
    }
  }

  passTime(): void {
    const { random } = this;
    // Two stores that are made of one state so far apart have the same number only after as many writes as
    // there are milliseconds between.
    this.nowMs += 1_000;
    if (random.chance(0.5)) this.nowMs += random.below(2 * DAY_MS);
    else if (random.chance(0.3)) this.nowMs -= random.below(400 * DAY_MS);
  }
}

test('through imports, undos, backups, restores and copies each version is the same data everywhere, or a 400 (contract 9.12)', async (t) => {
  const stores = new Stores();
  await stores.add(stores.freshUrl(false), { versions: new Set(), gone: new Set() });
  const steps = ['import', 'import', 'undo', 'copy', 'backup', 'restore'] as const;
  await stores.import();
  await stores.note();
  // Some things come seldom: it goes on until each has come.
  const isLacking = (): boolean => {
    const { same, never, undone, leaps } = stores.counts;
    return leaps <= STEPS / 10 || same <= 2 * STEPS || never <= 2 * STEPS || undone === 0;
  };
  for (let step = 0; step < STEPS || (isLacking() && step < 10 * STEPS); step++) {
    await stores[stores.random.pick(steps)]();
    stores.passTime();
    await stores.note();
    const known = [...stores.told.keys()];
    for (let again = 0; again < ASKED_AGAIN; again++)
      await stores.askAgain(stores.some, stores.random.pick(known));
  }
  for (const place of stores.places)
    for (const version of stores.told.keys()) await stores.askAgain(place, version);
  for (const { server } of stores.places) await server.close();
  const { same, never, undone, leaps } = stores.counts;
  t.diagnostic(
    `seed ${seed}: ${stores.told.size} versions, ${leaps} restores and copies; asked again: ${same} the same, ${never} of no such version, ${undone} undone`,
  );
  assert.ok(!isLacking());
});

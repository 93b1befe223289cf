// A year of a service under a false clock: files come into a watched folder, and each morning everything that
// the service says is held to the plain reading. In between the store is backed up, undone, killed, filled
// and migrated, as happens in a year.
import assert from 'node:assert/strict';
import {
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { contentHash } from '../../src/store/copy.ts';
import { openStore } from '../../src/store/engines.ts';
import { runAlone } from '../commands.ts';
import { Random } from '../fuzz/random.ts';
import { checkOut, git } from '../golden/worktree.ts';
import { noSmallDisk, SmallDisk } from '../reliability/tmpfs.ts';
import { type Server, Workshop } from '../service.ts';
import { fileStore } from '../sqlite/files.ts';
import { Watch } from '../watching.ts';
import { dateOf, type Market, markets, newYork } from './calendar.ts';
import { Facts } from './facts.ts';
import { Reading } from './plain.ts';
import { dayAt, type File, moments, sessions, type Turns, World } from './world.ts';

/** The last commit whose stores have the first layout. */
const FIRST_LAYOUT = '655f9fc3';

const clock = pathToFileURL(join(import.meta.dirname, 'clock.ts')).href;
/**
 * A watch takes a file that has not changed for three seconds by its own clock, which goes so many times as
 * fast.
 */
const SPEED = 10;
const DISK_BYTES = 512 * 2 ** 20;

/** What is asked of each market: intervals, and whether with extended hours too. */
const asked: Readonly<Record<Market['schema'], readonly (readonly [interval: string, isEth: boolean])[]>> = {
  stock: [
    ...([
      ['30M', false],
      ['30M', true],
      ['60M', false],
      ['60M', true],
      ['DAY', false],
      ['DAY', true],
    ] as const),
    ...([
      ['WEEK', false],
      ['WEEK', true],
      ['MON', false],
    ] as const),
  ],
  crypto: [
    ['60M', false],
    ['120M', false],
    ['DAY', false],
    ['WEEK', false],
    ['MON', false],
  ],
  forex: [
    ['60M', false],
    ['120M', false],
    ['DAY', false],
    ['WEEK', false],
    ['MON', false],
  ],
};

/** What happens in a month besides. */
export type Trouble = 'undo' | 'kill' | 'full disk' | 'cleaned folder';

/** How long a year is, and what happens at which of its sessions. */
export type Plan = {
  readonly seed: number;
  readonly count: number;
  /** The store is of the first layout through the session before. */
  readonly upgrade: number;
  readonly turns: Turns;
  readonly troubleAt: (at: number) => Trouble | null;
  readonly tell: (words: string) => void;
};

/** What a process holds. */
type Figures = { readonly megabytes: number; readonly files: number };

function figuresOf(pid: number): Figures {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    megabytes: Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1_024,
    files: readdirSync(`/proc/${pid}/fd`).length,
  };
}

/** What was measured at a morning. */
export type Morning = {
  readonly at: number;
  readonly service: Figures;
  readonly watch: Figures;
  /** Lines that the service has logged since the morning before, but for those of requests. */
  readonly logLines: number;
  /** Bytes of the log of changes that waits beside the store, and files in the temporary folder. */
  readonly waitingBytes: number;
  readonly temporaryFiles: number;
};

async function hashOf(url: string): Promise<string> {
  const store = await openStore(url, 'read');
  try {
    return await store.snapshot(contentHash);
  } finally {
    await store.close();
  }
}

/**
 * The lines of a CSV without its header: whole, or some columns of each, of which none before them has a
 * comma.
 */
const linesOf = (text: string, columns?: readonly number[]): string[] =>
  text
    .split('\r\n')
    .slice(1, -1)
    .map((line) => (columns === undefined ? line : pickedOf(line.split(','), columns)));

const pickedOf = (cells: readonly string[], columns: readonly number[]): string =>
  columns.map((column) => cells[column]).join();

/** A request, and the lines that the plain reading gives. */
type Request = {
  readonly path: string;
  readonly linesOf: (text: string) => string[];
  readonly want: () => string[];
};

/** Requests at a time. */
const CALLERS = 6;
const LINES_SHOWN = 10;

function differenceOf(want: readonly string[], got: readonly string[]): string {
  const [wanted, given] = [new Set(want), new Set(got)];
  const missing = want.filter((line) => !given.has(line));
  const extra = got.filter((line) => !wanted.has(line));
  if (missing.length + extra.length === 0) return 'the lines have another order, or are there twice';
  const shown = (lines: readonly string[]): string => lines.slice(0, LINES_SHOWN).join('\n');
  return `want (${missing.length} such lines):\n${shown(missing)}\ngot (${extra.length} such lines):\n${shown(extra)}`;
}

export class Year {
  readonly mornings: Morning[] = [];
  readonly tally = new Map<string, number>();
  readonly #plan: Plan;
  readonly #world: World;
  readonly #facts = new Facts();
  readonly #random: Random;
  readonly #shop = new Workshop();
  readonly #disk: SmallDisk | null;
  readonly #clock: number;
  #server: Server | null = null;
  #watch: Watch | null = null;
  #key = '';
  #loggedLines = 0;
  #old: string | null = null;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#world = new World(plan.seed, plan.count, plan.turns);
    this.#random = new Random(plan.seed, 1);
    const problem = noSmallDisk();
    if (problem !== false) plan.tell(`no disk is filled: ${problem}`);
    this.#disk = problem === false ? new SmallDisk(DISK_BYTES) : null;
    writeFileSync(this.#shop.path('clock'), '');
    this.#clock = openSync(this.#shop.path('clock'), 'r+');
    for (const folder of ['incoming', 'temporary']) mkdirSync(this.#shop.path(folder));
    // All that this process starts has the clock, the process that runs commands too: it is one of our own.
    delete process.env.TEST_COMMAND_HOST;
    Object.assign(process.env, {
      ...{ NODE_OPTIONS: `--import=${clock}`, YEAR_CLOCK: this.#shop.path('clock') },
      ...{ TMPDIR: this.#shop.path('temporary'), TZ: 'UTC', BOURSE_STORE: this.#store },
    });
    this.#setClock(moments.check(sessions[0]!.day));
  }

  get #store(): string {
    return fileStore(this.#disk?.path('bourse.db') ?? this.#shop.path('bourse.db'));
  }

  #count(what: string, more = 1): void {
    this.tally.set(what, (this.tally.get(what) ?? 0) + more);
  }

  /** Moves the clock of all processes. */
  #setClock(ms: number): void {
    writeSync(this.#clock, String(ms - Date.now()).padStart(16), 0);
  }

  async #run(...words: readonly string[]): Promise<string> {
    const { status, stdout, stderr } = await this.#shop.runWith({ BOURSE_STORE: this.#store }, ...words);
    assert.equal(status, 0, `bourse ${words.join(' ')}: ${stderr}`);
    return stdout.trim();
  }

  /** Lives through the year. @throws at the first difference */
  async live(): Promise<void> {
    const { count, troubleAt, tell } = this.#plan;
    const upgrade = this.#upgradeAt();
    try {
      for (let at = 0; at < count; at++) {
        const day = dayAt(at);
        const sunday = this.#sundayBefore(day);
        if (sunday !== null && this.#server !== null) await this.#backUp(sunday);
        const trouble = this.#server === null ? null : troubleAt(at);
        if (at === upgrade) await this.#upgrade(day);
        await this.#turn(at);
        await this.#deliver(moments.morning(day));
        if (trouble === 'undo') await this.#undo(at);
        if (trouble === 'cleaned folder') await this.#cleanFolder(day);
        if (this.#server !== null) await this.#check(at, moments.check(day));
        await this.#deliver(moments.noon(day));
        if (trouble === 'kill') await this.#kill(moments.evening(day));
        else if (trouble === 'full disk') await this.#fillDisk(moments.evening(day));
        else await this.#deliver(moments.evening(day));
        tell(`${dateOf(day)}, session ${at + 1} of ${count}`);
      }
      this.#count('sessions', count);
      for (const [kind, number] of Object.entries(this.#world.tally))
        this.#count(`files that are ${kind}`, number);
      const status = await this.#server!.stop();
      assert.equal(status, 0, 'the service stops with status 0');
      assert.equal(await this.#watch!.end('SIGTERM'), 0, 'the watch stops with status 0');
    } finally {
      this.close();
    }
  }

  /** Leaves nothing behind: no process, no file, no worktree. */
  close(): void {
    this.#watch?.signal('SIGKILL');
    this.#server?.signal('SIGKILL');
    this.#shop.close();
    this.#disk?.close();
    if (this.#old !== null) git('worktree', 'prune');
  }

  #sundayBefore(day: number): number | null {
    const monday = day - ((new Date(`${dateOf(day)}T00:00:00Z`).getUTCDay() + 6) % 7);
    const isFirst = !sessions.some((session) => monday <= session.day && session.day < day);
    return isFirst ? monday - 1 : null;
  }

  /**
   * The session before which the store is migrated: the first one where the program of the first layout is
   * not to be had.
   */
  #upgradeAt(): number {
    try {
      git('cat-file', '-e', `${FIRST_LAYOUT}^{commit}`);
      return this.#plan.upgrade;
    } catch {
      this.#plan.tell(
        `no store of the first layout is migrated: commit ${FIRST_LAYOUT} is not in this clone`,
      );
      return 0;
    }
  }

  /** A check-out of the program of the first layout; its command. */
  get #oldCommand(): string {
    this.#old ??= checkOut(FIRST_LAYOUT, this.#shop.folder);
    return join(this.#old, 'bin/bourse');
  }

  /** The files of a moment reach the store, and the facts. */
  async #deliver(ms: number): Promise<void> {
    this.#setClock(ms);
    const files = this.#world.filesAt(ms);
    if (files.length === 0) return;
    if (this.#watch === null) return this.#importByOld(ms, files);
    this.#put(files);
    await this.#taken(files);
    this.#facts.files(ms, files);
  }

  /** Puts files into the watched folder, so that the watch sees all of them in one look. */
  #put(files: readonly File[]): void {
    this.#watch!.signal('SIGSTOP');
    for (const { name, text } of files) writeFileSync(join(this.#shop.path('incoming'), name), text);
    this.#watch!.signal('SIGCONT');
  }

  /** Waits until the watch has imported files, or skipped them, and removes them. */
  async #taken(files: readonly File[]): Promise<void> {
    for (const { name } of files)
      await this.#watch!.until(new RegExp(`${name}: (?:[\\d,]+ rows? read|skipped)`));
    for (const { name } of files) {
      assert.doesNotMatch(this.#watch!.said, new RegExp(`${name}:.* [1-9][\\d,]* refused`));
      rmSync(join(this.#shop.path('incoming'), name));
    }
    this.#count('files', files.length);
  }

  async #importByOld(ms: number, files: readonly File[]): Promise<void> {
    for (const { name, text } of files) writeFileSync(this.#shop.path(name), text);
    const names = files.map(({ name }) => name).sort();
    const words = ['import', 'bars', ...names, '--symbols', 'then'];
    const { status, stderr } = await runAlone(
      { words, folder: this.#shop.folder, environment: process.env },
      '',
      this.#oldCommand,
    );
    assert.equal(status, 0, stderr);
    this.#facts.files(ms, files);
    this.#count('files by the program of the first layout', files.length);
  }

  /** The present program migrates the store, serves it and watches the folder. */
  async #upgrade(day: number): Promise<void> {
    this.#setClock(moments.morning(day) - 3_600_000);
    this.#server = await this.#shop.serve('--store', this.#store, '--log-level', 'info');
    this.#key = await this.#run('keys', 'create', 'year');
    await this.#startWatch();
  }

  async #startWatch(): Promise<void> {
    const environment = { BOURSE_STORE: this.#store, YEAR_SPEED: String(SPEED) };
    this.#watch = new Watch(this.#shop, 'incoming', null, ['--symbols', 'then'], environment);
    await this.#watch.until(/watching/);
  }

  /** What happens once in a year. */
  async #turn(at: number): Promise<void> {
    const { split, recorded, renamed, delisted, reused } = this.#plan.turns;
    const day = dayAt(at);
    this.#setClock(moments.morning(day) - 1_800_000);
    if (at === recorded) {
      const row = ['US', 'AFL', 'split', dateOf(dayAt(split)), 1, 4].join();
      const text = `country_iso_code,symbol,action_type,ex_date,split_from,split_to\n${row}\n`;
      await this.#import('corporate-actions', text);
      this.#facts.actions(text);
      this.#count('splits recorded');
    }
    if (at === delisted + 1) {
      await this.#terms([`AIG,,${dateOf(dayAt(delisted))},inactive,`]);
      this.#count('delistings');
    }
    if (at === renamed) {
      await this.#move('ACE', at - 1, [`ACX,,,active,ACE:2025-01-01..${dateOf(day - 1)}`]);
      this.#count('renames');
    }
    if (at === reused) {
      const last = dateOf(dayAt(delisted));
      const gone = `AIGQ,,${last},inactive,AIG:2025-01-01..${last}`;
      await this.#move('AIG', delisted, [gone, `AIG,${dateOf(day)},,active,`]);
      this.#count('symbols reused');
    }
  }

  async #import(dataset: string, text: string): Promise<void> {
    writeFileSync(this.#shop.path(`${dataset}.csv`), text);
    await this.#run('import', dataset, this.#shop.path(`${dataset}.csv`));
  }

  async #terms(rows: readonly string[]): Promise<void> {
    const head = 'asset_schema,country_iso_code,symbol,listing_date,delisting_date,status,former_symbols';
    const text = `${[head, ...rows.map((row) => `stock,US,${row}`)].join('\n')}\n`;
    await this.#import('instruments', text);
    this.#facts.terms(text);
  }

  /**
   * Moves the bars of a symbol to the instrument that had it, as the pages say: they are deleted, and
   * imported again.
   */
  async #move(symbol: string, through: number, terms: readonly string[]): Promise<void> {
    await this.#run('delete', 'bars', '--symbol', symbol, '--country', 'US');
    this.#facts.delete(symbol);
    await this.#terms(terms);
    const file = this.#world.history(symbol, through);
    await this.#deliverNow(file);
  }

  async #deliverNow(file: File): Promise<void> {
    this.#put([file]);
    await this.#taken([file]);
    this.#facts.files(this.#nowMs, [file]);
  }

  get #nowMs(): number {
    return Date.now() + Number(readFileSync(this.#shop.path('clock'), 'utf8'));
  }

  /** On Sundays a backup is restored elsewhere, and compared. */
  async #backUp(sunday: number): Promise<void> {
    this.#setClock(newYork(sunday, 12));
    const [backup, copy] = ['backup', 'restored.db'].map((name) => this.#shop.path(name));
    await this.#run('backup', backup!);
    await this.#run('restore', backup!, '--store', fileStore(copy!));
    assert.equal(
      await hashOf(fileStore(copy!)),
      await hashOf(this.#store),
      `the backup of ${dateOf(sunday)}`,
    );
    const path = `/api/v2/stock/coverage?format=csv&limit=1000`;
    const [here, there] = [
      await this.#ask(path),
      await this.#run('query', path, '--store', fileStore(copy!)),
    ];
    assert.deepEqual(
      linesOf(`${there}\r\n`),
      linesOf(here),
      `the coverage of the backup of ${dateOf(sunday)}`,
    );
    for (const name of readdirSync(this.#shop.folder))
      if (/^(?:backup|restored)/.test(name)) rmSync(this.#shop.path(name), { recursive: true });
    this.#count('backups restored');
  }

  /** Takes a file of the last sessions back; it comes again in the evening. */
  async #undo(at: number): Promise<void> {
    const recent = this.#facts.live.filter((one) => one.kind === 'file').slice(-30);
    const { name, text } = this.#random.pick(recent.filter((run) => !run.name.startsWith('history')));
    const { result } = JSON.parse(await this.#ask('/api/v2/server/runs?sort=desc&limit=200')) as {
      result: { data: { run: number; file: string | null; undone: boolean }[] };
    };
    const found = result.data.find((run) => run.file?.endsWith(name) && !run.undone);
    assert.ok(found !== undefined, `a run of ${name} is listed`);
    await this.#run('undo', String(found.run));
    this.#facts.undo(name);
    this.#world.arrive(moments.evening(dayAt(at)), { name, text });
    this.#count('undos');
  }

  /** The watch is killed while it imports, and started again. */
  async #kill(ms: number): Promise<void> {
    this.#setClock(ms);
    const files = this.#world.filesAt(ms);
    if (files.length === 0) return;
    this.#put(files);
    // Some time in the look that takes them: before it, in it, or after it.
    await new Promise((resolve) => setTimeout(resolve, this.#random.below(1_500)));
    await this.#watch!.end('SIGKILL');
    await this.#takenAgain(ms, files);
    this.#count('kills');
  }

  /** A new watch takes what the one before left; what that one had committed was of its own look. */
  async #takenAgain(ms: number, files: readonly File[]): Promise<void> {
    await this.#startWatch();
    await this.#taken(files);
    const looks = Map.groupBy(files, ({ name }) => this.#watch!.said.includes(`${name}: skipped`));
    for (const isOfBefore of [true, false])
      if (looks.has(isOfBefore)) this.#facts.files(ms, looks.get(isOfBefore)!);
  }

  /**
   * The disk is full when files come: the watch ends, the service goes on, and all is well once there is
   * room.
   */
  async #fillDisk(ms: number): Promise<void> {
    const files = this.#world.filesAt(ms);
    if (this.#disk === null || files.length === 0) return this.#deliver(ms);
    this.#setClock(ms);
    this.#disk.leaveFree(16_384);
    this.#put(files);
    assert.equal(await this.#watch!.ended, 3, `the watch ends with 3: ${this.#watch!.said.slice(-500)}`);
    assert.match(this.#watch!.said, /bytes free|full/);
    await this.#ask('/api/v2/stock/coverage?limit=1');
    this.#disk.resize(DISK_BYTES);
    await this.#takenAgain(ms, files);
    this.#count('full disks');
  }

  /** The temporary folder is emptied, as systems do at night: the next Parquet file is made all the same. */
  async #cleanFolder(day: number): Promise<void> {
    const path = `/api/v2/stock/bulk/bars/US/DAY/from/2025-01-01/to/${dateOf(day)}?format=parquet`;
    await this.#ask(path);
    for (const name of readdirSync(this.#shop.path('temporary')))
      rmSync(join(this.#shop.path('temporary'), name), { recursive: true });
    for (const more of ['', '&is_eth=true'])
      assert.ok((await this.#ask(`${path}${more}`)).startsWith('PAR1'), 'it is a Parquet file');
    this.#count('cleaned folders');
  }

  async #ask(path: string): Promise<string> {
    // Between two requests it computes for long: a connection that is kept may be closed as it asks again.
    const headers = { Authorization: `Bearer ${this.#key}`, Connection: 'close' };
    const response = await this.#server!.get(path, { headers });
    const text = await response.text();
    assert.equal(
      response.status,
      200,
      `${dateOf(Math.floor(this.#nowMs / 86_400_000))} ${path}: ${text.slice(0, 500)}`,
    );
    return text;
  }

  /** Holds what the service says to the plain reading, all of it. */
  async #check(at: number, ms: number): Promise<void> {
    this.#setClock(ms);
    const reading = new Reading(this.#facts, ms);
    const requests: Request[] = [];
    for (const market of Object.values(markets)) {
      const series = reading.series.filter(({ instrument }) => instrument.market === market);
      const symbols = series.map(({ instrument }) => instrument.symbol).sort();
      const { schema, country } = market;
      requests.push({
        path: `/api/v2/${schema}/coverage?format=csv&limit=1000`,
        linesOf: (text) => linesOf(text, [2, 3, 4, 5, 6, 7, 9]).sort(),
        want: () => reading.listLines(market),
      });
      for (const [interval, isEth] of symbols.length === 0 ? [] : asked[schema]) {
        const span = `from/2024-12-30/to/${dateOf(dayAt(at))}`;
        const some = `is_eth=${isEth}&symbols=${encodeURIComponent(symbols.join())}`;
        requests.push({
          path: `/api/v2/${schema}/bulk/bars/${country}/${interval}/${span}?format=csv&${some}`,
          linesOf,
          want: () => reading.bulk(market, interval, isEth, symbols),
        });
      }
      for (const one of series) {
        const name = `${country}:${encodeURIComponent(one.instrument.symbol)}`;
        requests.push({
          path: `/api/v2/${schema}/findings/${name}?format=csv&limit=1000`,
          linesOf: (text) => linesOf(text, [0, 1, 2, 3, 4, 5, 6]).sort(),
          want: () => reading.findingLines(one),
        });
        this.#count('findings compared', reading.findings(one).length);
        requests.push({
          path: `/api/v2/${schema}/coverage/${name}?format=csv&limit=1000`,
          linesOf: (text) => linesOf(text, [0, 1, 2, 3, 4, 5, 6, 7, 8]),
          want: () => reading.coverageLines(one),
        });
      }
    }
    // What is expected is computed while no request is under way: that takes long, and a connection on which
    // nothing comes meanwhile is answered with a 408.
    for (let from = 0; from < requests.length; from += CALLERS) {
      const some = requests.slice(from, from + CALLERS);
      const texts = await Promise.all(some.map(({ path }) => this.#ask(path)));
      for (const [index, { path, linesOf: linesIn, want: expected }] of some.entries()) {
        const [got, want] = [linesIn(texts[index]!), expected()];
        this.#count('lines compared', want.length);
        if (want.join('\n') !== got.join('\n'))
          assert.fail(
            `seed ${this.#plan.seed}, the morning of ${dateOf(dayAt(at))}: ${path}\n${differenceOf(want, got)}`,
          );
      }
    }
    // How many requests there are is ours, and how many a busy machine refuses.
    const logged = this.#server!.log.filter((line) => !line.includes('"msg":"request"')).length;
    const wal = `${this.#store.replace('sqlite:', '')}-wal`;
    this.mornings.push({
      ...{ at, service: figuresOf(this.#server!.pid), watch: figuresOf(this.#watch!.pid) },
      ...{
        logLines: logged - this.#loggedLines,
        waitingBytes: statSync(wal, { throwIfNoEntry: false })?.size ?? 0,
      },
      temporaryFiles: readdirSync(this.#shop.path('temporary'), { recursive: true }).length,
    });
    this.#loggedLines = logged;
  }
}

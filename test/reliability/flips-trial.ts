// One flip: asks a damaged store everything, and says by what its answers differ from those of the sound
// store.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readHoldings } from '../../src/cli/commands/status.ts';
import { ndjson } from '../../src/queries/export/export-table.ts';
import { exportTable } from '../../src/queries/export/tables.ts';
import { RequestProblem } from '../../src/runs/recorded-write.ts';
import { newestRuns, undoRun } from '../../src/runs/undo-run.ts';
import { contentHash } from '../../src/store/copy.ts';
import { openStore } from '../../src/store/engines.ts';
import { fileDatasetNames } from '../../src/store/schema/index.ts';
import type { Mode, Reader, Store } from '../../src/store/store.ts';
import { fileStore } from '../sqlite/files.ts';
import { pageOf, Service } from './flips-asking.ts';
import { Endless, Meter, meteredStore } from './flips-bounds.ts';
import { compare, type Difference, type Outcome } from './flips-compare.ts';
import { findsDamage } from './flips-damage.ts';
import { ASKED_MS, waves } from './flips-data.ts';
import { targets } from './flips-requests.ts';

/** What the sound store answers: each page as it came, and the rows of everything that is asked. */
type Sound = {
  readonly pages: ReadonlyMap<string, readonly { readonly target: string; readonly body: Buffer }[]>;
  readonly rows: ReadonlyMap<string, readonly string[]>;
  readonly texts: ReadonlyMap<string, string>;
};

/** One thing that a flip changed. */
export type Changed = Difference & { readonly what: string };

/** Whether a thing is asked, by its number among those of its kind. */
type IsAsked = (index: number) => boolean;

/** What a flip did. */
export type Effect = { readonly changes: readonly Changed[]; readonly damage: readonly string[] };

const everything = {
  ...{ assetSchema: null, country: null, symbol: null, interval: null, basis: null },
  ...{ volumes: null, from: null, to: null },
};

async function exported(reader: Reader, dataset: string): Promise<string> {
  const table = await exportTable(reader, dataset, everything);
  let text = '';
  for await (const lines of table.lines(ndjson)) text += lines.text;
  return text;
}

const linesOf = (text: string): string[] => text.split('\n').slice(0, -1);

/** What is asked beside requests: each gives lines of text. */
const readings: Readonly<Record<string, (reader: Reader) => Promise<string>>> = {
  ...Object.fromEntries(
    fileDatasetNames.map((name) => [`export ${name}`, (reader: Reader) => exported(reader, name)]),
  ),
  'content hash': async (reader) => `${await contentHash(reader)}\n`,
  status: async (reader) => {
    const parts = Object.entries<unknown>(await readHoldings(reader));
    const rows = parts.flatMap(([part, held]) => [held].flat().map((one) => JSON.stringify([part, one])));
    return rows.map((row) => `${row}\n`).join('');
  },
  runs: async (reader) => (await newestRuns(reader, 1_000)).map((run) => `${JSON.stringify(run)}\n`).join(''),
};

/** The imports of the last moment, undone in turn. */
const LAST_RUNS = waves.at(-1)!.fillings.length;
const RUNS = waves.reduce((sum, { fillings }) => sum + fillings.length, 0);
const lastRuns = Array.from({ length: LAST_RUNS }, (_, index) => RUNS - index);

const outcomeOf = (error: unknown, meter: Meter): Outcome => {
  const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (meter.isOver || error instanceof Endless) return { kind: 'endless', why };
  return { kind: error instanceof RequestProblem ? 'denial' : 'fault', why };
};

/** Asks stores that differ from a sound one. */
export class Trials {
  readonly #folder: string;
  readonly #meter = new Meter();
  readonly #sound: Sound;

  private constructor(folder: string, sound: Sound) {
    this.#folder = folder;
    this.#sound = sound;
  }

  /** Learns the answers of the sound store. */
  static async open(folder: string, bytes: Uint8Array): Promise<Trials> {
    const trials = new Trials(folder, { pages: new Map(), rows: new Map(), texts: new Map() });
    const sound = await trials.#inFolder(async () => trials.#learn(bytes));
    return new Trials(folder, sound);
  }

  /** What a store of these bytes does otherwise than the sound one, in the things that are asked. */
  run(bytes: Uint8Array, isAsked: IsAsked = () => true): Promise<Effect> {
    return this.#inFolder(async () => {
      const changes = await this.#changes(bytes, isAsked);
      return { changes, damage: await findsDamage(this.#put('checked', bytes)) };
    });
  }

  async #inFolder<T>(work: () => Promise<T>): Promise<T> {
    mkdirSync(this.#folder, { recursive: true });
    try {
      return await work();
    } finally {
      rmSync(this.#folder, { recursive: true, force: true });
    }
  }

  #put(name: string, bytes: Uint8Array): string {
    const path = join(this.#folder, `${name}.db`);
    writeFileSync(path, bytes);
    return path;
  }

  /** Opens a store of these bytes and asks it something. @throws where it does not open */
  async #with<T>(name: string, bytes: Uint8Array, mode: Mode, ask: (store: Store) => Promise<T>): Promise<T> {
    const opened = await openStore(fileStore(this.#put(name, bytes)), mode);
    try {
      return await ask(meteredStore(opened, this.#meter));
    } finally {
      await opened.close();
    }
  }

  async #learn(bytes: Uint8Array): Promise<Sound> {
    const pages = new Map<string, { target: string; body: Buffer }[]>();
    const rows = new Map<string, string[]>();
    const texts = new Map<string, string>();
    await this.#with('sound', bytes, 'read', async (store) => {
      const service = new Service(store);
      for (const start of targets) {
        const [walked, found]: [{ target: string; body: Buffer }[], string[]] = [[], []];
        for (let target: string | null = start; target !== null; ) {
          const { status, body } = await service.get(target);
          if (status !== 200) throw new Error(`${target}: ${body.toString()}`);
          const page = pageOf(target, body);
          walked.push({ target, body });
          found.push(...page.rows);
          target = page.next;
        }
        pages.set(start, walked);
        rows.set(start, found);
      }
      for (const [what, read] of Object.entries(readings)) texts.set(what, await store.snapshot(read));
    });
    await this.#with('undone', bytes, 'write', async (store) => {
      texts.set('undo', await this.#undoAll(store));
      for (const [what, read] of Object.entries(readings))
        texts.set(`undo, then ${what}`, await store.snapshot(read));
    });
    return { pages, rows, texts };
  }

  async #undoAll(store: Store): Promise<string> {
    let text = '';
    for (const runId of lastRuns) {
      this.#meter.reset();
      const report = await undoRun(store, { runId, dryRun: false, nowMs: () => ASKED_MS });
      text += `${JSON.stringify(report)}\n`;
    }
    return text;
  }

  async #changes(bytes: Uint8Array, isAsked: IsAsked): Promise<Changed[]> {
    const changes: Changed[] = [];
    const reading = this.#with('served', bytes, 'read', async (store) => {
      const service = new Service(store);
      for (const [index, start] of targets.entries())
        if (isAsked(index)) await this.#request(service, start, changes);
      for (const [index, [what, read]] of Object.entries(readings).entries())
        if (isAsked(index)) await this.#text(what, () => store.snapshot(read), changes);
    });
    await this.#orUnopened('read', reading, changes);
    if (!isAsked(0)) return settled(changes);
    const undoing = this.#with('undone', bytes, 'write', async (store) => {
      const known = changes.length;
      await this.#text('undo', () => this.#undoAll(store), changes);
      if (changes.length > known) return;
      // The hash of the content tells whether the rest needs to be looked at.
      const hash = () => store.snapshot(readings['content hash']!);
      await this.#text('undo, then content hash', hash, changes);
      if (changes.length === known) return;
      for (const [what, read] of Object.entries(readings))
        if (what.startsWith('export'))
          await this.#text(`undo, then ${what}`, () => store.snapshot(read), changes);
    });
    await this.#orUnopened('write', undoing, changes);
    return settled(changes);
  }

  async #orUnopened(mode: Mode, opening: Promise<void>, changes: Changed[]): Promise<void> {
    await opening.catch((error: unknown) => {
      changes.push({ what: `opening to ${mode}`, verdict: 'unopened', how: String(error) });
    });
  }

  /** Asks for a text, and notes by what its lines differ. */
  async #text(what: string, read: () => Promise<string>, changes: Changed[]): Promise<void> {
    this.#meter.reset();
    const text = await read().catch((error: unknown) => outcomeOf(error, this.#meter));
    const sound = this.#sound.texts.get(what)!;
    if (text === sound) return;
    const got = typeof text === 'string' ? ({ kind: 'rows', rows: linesOf(text) } as const) : text;
    const difference = compare(linesOf(sound), got);
    if (difference !== null) changes.push({ what, ...difference });
  }

  /** Asks for the pages of a walk; if one differs, walks from the start and notes by what the rows differ. */
  async #request(service: Service, start: string, changes: Changed[]): Promise<void> {
    this.#meter.reset();
    for (const { target, body } of this.#sound.pages.get(start)!) {
      const got = await service.get(target);
      if (got.status === 200 && got.body.equals(body)) continue;
      const difference = compare(this.#sound.rows.get(start)!, await this.#walk(service, start));
      if (difference !== null) changes.push({ what: start, ...difference });
      return;
    }
  }

  async #walk(service: Service, start: string): Promise<Outcome> {
    const rows: string[] = [];
    const pagesMax = 4 * this.#sound.pages.get(start)!.length + 4;
    let target: string | null = start;
    for (let pages = 0; target !== null; pages++) {
      if (pages === pagesMax) return { kind: 'endless', why: `more than ${pagesMax} pages` };
      const { status, body, why } = await service.get(target);
      if (this.#meter.isOver) return { kind: 'endless', why };
      if (status >= 500) return { kind: 'fault', why };
      if (status !== 200) return { kind: 'denial', why: `${status} ${body.toString()}` };
      const page = pageOf(target, body);
      rows.push(...page.rows);
      target = page.next;
    }
    return { kind: 'rows', rows };
  }
}

const isHash = ({ what }: Changed): boolean => what.endsWith('content hash');
const isUndo = ({ what }: Changed): boolean => what.startsWith('undo');

/** A hash of what is left where rows are lost is another one: no fault of its own. */
function settled(changes: readonly Changed[]): Changed[] {
  const onlyLost = (isOfUndo: boolean): boolean => {
    const others = changes.filter((one) => !isHash(one) && isUndo(one) === isOfUndo);
    return others.length > 0 && others.every(({ verdict }) => verdict !== 'wrong');
  };
  const isOwn = (one: Changed): boolean => one.verdict === 'wrong' && isHash(one) && onlyLost(isUndo(one));
  return changes.map((one) => (isOwn(one) ? { ...one, verdict: 'lost' } : one));
}

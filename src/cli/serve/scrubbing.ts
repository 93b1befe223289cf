// Reads a whole store for damage (a scrub): at once for `bourse doctor --deep`; beside a service slowly,
// about once a day, in a process of its own, whose service tells what is newly found.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { causeOf, type Observe } from '../../base/observe.ts';
import { namedDamage } from '../../series/damaged-bars.ts';
import {
  beginServing,
  claimScrub,
  endServing,
  putScrub,
  readScrub,
  type Scrub,
} from '../../store/control.ts';
import { type Damage, damageWords } from '../../store/damage.ts';
import { engineAt, openControl } from '../../store/engines.ts';
import { StoreUnavailable, StoreUnusable } from '../../store/store.ts';
import { cliLimits } from '../shared/limits.ts';
import { closing, readStore } from '../shared/opened-store.ts';

/** Takes the reason why damaged blocks and series have no names: they are listed by their numbers. */
type OnUnnamed = (why: string) => void;

/** Takes a part of a store that was read, with what is damaged in it, or why it was not checked. */
type OnStep = (table: string, damage: readonly Damage[], unchecked?: string) => void | Promise<void>;

/**
 * Calls `onStep` for each part of a store that was read, with what is damaged in it, named; where that cannot
 * be, `onUnnamed` once.
 */
export async function scrub(url: string, onStep: OnStep, onUnnamed: OnUnnamed): Promise<void> {
  let isTold = false;
  const tellOnce: OnUnnamed = (why) => {
    if (!isTold) onUnnamed(`damaged bars are listed by the numbers of their blocks and series: ${why}`);
    isTold = true;
  };
  for await (const { table, damage, unchecked } of engineAt(url).scrub()) {
    const named = damage.length === 0 ? [] : await nameAll(url, damage, tellOnce);
    await onStep(table, named, unchecked);
  }
}

/** The damaged parts of a whole store: the first ones by name, and how many more there are. */
export async function damagedParts(
  url: string,
  namedMax: number,
  onUnnamed: OnUnnamed,
  onSteps: (steps: number) => void,
): Promise<{ readonly named: readonly Damage[]; readonly more: number }> {
  const named: Damage[] = [];
  let [steps, found] = [0, 0];
  const onStep = (_: string, damage: readonly Damage[]): void => {
    named.push(...damage.slice(0, Math.max(0, namedMax - named.length)));
    found += damage.length;
    onSteps(++steps);
  };
  await scrub(url, onStep, onUnnamed);
  return { named, more: found - named.length };
}

const hasName = ({ block, seriesId }: Damage): boolean => (block ?? seriesId) !== undefined;

/** A store so damaged that it cannot be opened, or that is gone by now, names nothing. */
async function nameAll(
  url: string,
  damage: readonly Damage[],
  onUnnamed: OnUnnamed,
): Promise<readonly Damage[]> {
  if (!damage.some(hasName)) return damage;
  try {
    return await readStore(url, 'read', (reader) =>
      Promise.all(damage.map((one) => namedDamage(reader, one))),
    );
  } catch (error) {
    if (!(error instanceof StoreUnusable)) throw error;
    onUnnamed(error.message);
    return damage;
  }
}

/**
 * Reads the store slowly if that is due, and stores the damage that it finds. Returns the newest reading,
 * this one or an earlier. `onLack` takes the reason for each part that was not checked, with the cure, and
 * for damaged bars without names.
 */
export function scrubWhenDue(
  url: string,
  everyMs: number,
  onLack: (words: string) => void,
  rest: number = cliLimits.scrubRestFactor,
): Promise<Scrub | null> {
  return closing(openControl(url, 'write'), async (control) => {
    const startedMs = Date.now();
    if (await claimScrub(control, startedMs, everyMs)) {
      // Damage that is known stays until all is read.
      const before = (await readScrub(control))?.damage ?? [];
      const found = new Map<string, Damage>();
      let beganMs = performance.now();
      const onStep: OnStep = async (_, damage, unchecked) => {
        if (unchecked !== undefined) onLack(unchecked);
        const known = found.size;
        for (const one of damage) if (found.size < cliLimits.scrubDamageMax) found.set(damageWords(one), one);
        if (found.size > known)
          await putScrub(control, { startedMs, finishedMs: null, damage: [...before, ...found.values()] });
        await sleep(Math.min(rest * (performance.now() - beganMs), cliLimits.scrubRestMsMax));
        beganMs = performance.now();
      };
      await scrub(url, onStep, onLack);
      await putScrub(control, { startedMs, finishedMs: Date.now(), damage: [...found.values()] });
    }
    return readScrub(control);
  });
}

/** The first message to a scrub process. */
type ScrubTask = { readonly storeUrl: string; readonly everyMs: number };

/** Its messages: a part that it could not check, and at the end the newest reading, or why it failed. */
type ScrubMessage =
  | { readonly kind: 'lack'; readonly words: string }
  | { readonly kind: 'read'; readonly scrub: Scrub | null }
  | { readonly kind: 'failed'; readonly cause: string };

const LEAST_PRIORITY = 19;

/**
 * The work of the scrub process. SQLite's own check of a large table is one call of seconds to minutes, which
 * nothing can interrupt: in a thread it would keep the service from stopping.
 */
async function work({ storeUrl, everyMs }: ScrubTask): Promise<void> {
  const tell = (message: ScrubMessage): void => void process.send!(message);
  try {
    const lack = (words: string): void => tell({ kind: 'lack', words });
    const scrub = await scrubWhenDue(storeUrl, everyMs, lack);
    tell({ kind: 'read', scrub });
  } catch (error) {
    tell({ kind: 'failed', cause: causeOf(error) });
  }
  process.disconnect();
}

/**
 * Damaged parts, in words: a part that is deleted is forgotten by the reading that begins and ends after its
 * deletion.
 */
export class KnownDamage {
  /** Since when each part is known. */
  readonly #parts = new Map<string, number>();
  #readingMs = 0;
  /** When the newest reading ended; null before the first. */
  readMs: number | null = null;

  get parts(): readonly string[] {
    return [...this.#parts.keys()];
  }

  /** Keeps what a request met at a moment. */
  met(words: string, nowMs: number): void {
    if (!this.#parts.has(words) && this.#parts.size < cliLimits.knownDamageMax) this.#parts.set(words, nowMs);
  }

  /** Keeps what a reading found, ended or not. Gives the parts that were not known before. */
  read({ startedMs, finishedMs, damage }: Scrub): readonly string[] {
    const before = new Set(this.#parts.keys());
    if (finishedMs !== null && startedMs !== this.#readingMs) {
      this.readMs = finishedMs;
      this.#readingMs = startedMs;
      for (const [words, knownMs] of this.#parts) if (knownMs < startedMs) this.#parts.delete(words);
    }
    // A reading that goes on still has what an earlier one found: its own end decides whether that is
    // gone.
    const sinceMs = finishedMs === null ? 0 : startedMs;
    const found = damage.map(damageWords);
    for (const words of found) this.met(words, sinceMs);
    return found.filter((words) => !before.has(words));
  }
}

const HOUR_MS = 3_600_000;

/** Its heap is small, whatever the heap of this process may be. */
const FLAGS = [
  ...['--max-old-space-size=128', '--max-semi-space-size=2', '--single-threaded-gc'],
  '--disable-warning=ExperimentalWarning',
];

/** The place of faults whose cause is damaged data. */
export const DATA = 'data';

/** The readings of a service's store: begun when they are due, known when they end. */
export class Scrubbing {
  readonly #task: ScrubTask;
  readonly #observe: Observe;
  readonly #timer: NodeJS.Timeout;
  #process: ChildProcess | null = null;
  /** When its service began, where that was noted. */
  #beganMs: number | null = null;
  readonly #known = new KnownDamage();

  /** With 0 hours the store is never read. */
  constructor(
    storeUrl: string,
    everyHours: number,
    observe: Observe,
    firstMs: number = cliLimits.scrubFirstMs,
  ) {
    this.#task = { storeUrl, everyMs: everyHours * HOUR_MS };
    this.#observe = observe;
    this.#timer = setTimeout(() => this.#ask(), firstMs);
    this.#timer.unref();
    if (everyHours === 0) clearTimeout(this.#timer);
  }

  /** What is damaged, in words. */
  get damaged(): readonly string[] {
    return this.#known.parts;
  }

  /** When the newest reading ended; null before the first. */
  get readMs(): number | null {
    return this.#known.readMs;
  }

  /** Keeps what a request met. */
  met(words: string): void {
    this.#known.met(words, Date.now());
  }

  #ask(): void {
    const child = fork(import.meta.filename, [], {
      execArgv: FLAGS,
      serialization: 'advanced',
      stdio: 'ignore',
    });
    this.#process = child;
    child.unref();
    child.channel?.unref();
    child.on('message', (message: ScrubMessage) => {
      if (message.kind === 'read') this.#know(message.scrub);
      else this.#fail(message.kind === 'lack' ? message.words : message.cause);
    });
    child.once('error', (error) => this.#fail(error.message));
    child.once('exit', (code, signal) => {
      if (code !== 0 && this.#process !== null)
        this.#fail(`the process that reads the store ended with ${code ?? signal}`);
      this.#process = null;
      setTimeout(() => this.#ask(), cliLimits.scrubAskMs).unref();
    });
    child.send(this.#task);
  }

  #fail(cause: string): void {
    this.#observe({ kind: 'fault', requestId: null, where: 'scrub', cause });
  }

  #know(scrub: Scrub | null): void {
    if (scrub === null) return;
    for (const words of this.#known.read(scrub))
      this.#observe({ kind: 'fault', requestId: null, where: DATA, cause: words });
  }

  /**
   * Notes that its service begins: a reading is due where the one before it was cut off (a power failure,
   * `kill -9`).
   */
  async begin(): Promise<void> {
    const beganMs = Date.now();
    try {
      await closing(openControl(this.#task.storeUrl, 'write'), (control) => beginServing(control, beganMs));
      this.#beganMs = beganMs;
    } catch (error) {
      // A standby of PostgreSQL only reads. Of a store that is away, requests say so.
      if (!(error instanceof StoreUnavailable)) this.#fail(causeOf(error));
    }
  }

  /** Ends a reading that goes on, and notes that its service has ended. */
  async stop(): Promise<void> {
    await this.#stopReading();
    const beganMs = this.#beganMs;
    if (beganMs === null) return;
    const end = closing(openControl(this.#task.storeUrl, 'write'), (control) =>
      endServing(control, beganMs, Date.now()),
    );
    // If this cannot be noted, the next start reads the store.
    await end.catch(() => undefined);
  }

  async #stopReading(): Promise<void> {
    clearTimeout(this.#timer);
    const child = this.#process;
    this.#process = null;
    if (child === null || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.ref();
    child.kill('SIGKILL');
    await ended;
  }
}

if (import.meta.main) {
  setPriority(LEAST_PRIORITY);
  process.once('message', (task: ScrubTask) => void work(task));
  // The service has ended, however it did.
  process.once('disconnect', () => process.exit());
}

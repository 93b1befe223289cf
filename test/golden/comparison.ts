// Two sides get the same commands and are asked the same requests; what differs is told as it is found.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../fuzz/random.ts';
import type { Finished, Sent, Side } from './checkout.ts';
import {
  type Answer,
  cut,
  type Difference,
  differencesOf,
  differenceWords,
  plainOf,
  type Secrets,
} from './compare.ts';
import { makeRequest, placeholders, type Request } from './requests.ts';
import type { Step, World, WorldSize } from './world.ts';

/** How many requests were equal, by endpoint and status. */
export type Tally = Map<string, { equal: number; different: number }>;

/** What a comparison has found. */
export type Compared = {
  readonly tally: Tally;
  requests: number;
  /** Requests, and commands, that differ. */
  different: number;
  commands: number;
  differentCommands: number;
  /** Commands that neither side could run, as they were called. */
  readonly unusable: string[];
};

/** Requests under way at once: the services answer side by side. */
const AT_ONCE = 8;

/** Share of the requests by phase: most come at the end, when there are earlier versions. */
const SHARES = [0.15, 0.15, 0.7];

/** Exit statuses of contract 10 that say that a command could not do its work. */
const isUnusable = ({ status }: Finished): boolean => status !== 0 && status !== 1;

/** A JSON text with the fields of objects by name: their order is no promise. Another text as it is. */
function inOneOrder(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), (_, value: unknown) =>
      value !== null && typeof value === 'object' && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
        : value,
    );
  } catch {
    return text;
  }
}

/** A report without how long it took, and without the folder of the side. */
const reportOf = ({ stdout }: Finished): string =>
  stdout
    .split('\n')
    .map(inOneOrder)
    .join('\n')
    .replaceAll(/"(duration|\w*seconds|\w*Ms|\w*_ms)":\s*[\d.]+/gi, '"$1":0');

/** Where differences are told, and what goes on. */
export type Telling = Readonly<Record<'difference' | 'progress', (words: string) => void>>;

/** Two sides beside each other. `folder` takes files of answers that are read by another program. */
export class Comparison {
  readonly #sides: readonly [Side, Side];
  readonly #telling: Telling;
  readonly #folder: string;
  readonly #secrets: [Record<string, string>, Record<string, string>] = [{}, {}];
  readonly compared: Compared = {
    tally: new Map(),
    requests: 0,
    different: 0,
    commands: 0,
    differentCommands: 0,
    unusable: [],
  };
  #kept = 0;

  constructor(sides: readonly [Side, Side], folder: string, telling: Telling) {
    [this.#sides, this.#folder, this.#telling] = [sides, folder, telling];
  }

  /** Does all that a world says, and asks so many requests between. */
  async run(
    world: World,
    size: WorldSize,
    { seed, count }: { seed: number; count: number },
  ): Promise<Compared> {
    for (const [at, phase] of world.phases.entries()) {
      for (const step of phase.steps) await this.#step(step);
      if (at === 0) await this.#makeKeys(phase.askedAt);
      await Promise.all(this.#sides.map((side) => side.serve(phase.askedAt)));
      const first = Math.round(count * SHARES.slice(0, at).reduce((sum, share) => sum + share, 0));
      const last = at === world.phases.length - 1 ? count : first + Math.round(count * SHARES[at]!);
      this.#telling.progress(
        `${this.compared.commands} commands are run; requests ${first} to ${last}, at ${phase.askedAt}`,
      );
      await this.#askAll(seed, first, last, size === 'whole' && at === world.phases.length - 1);
    }
    return this.compared;
  }

  /** Keys of the same names in both stores: one as usual, and one that is pinned to a moment. */
  async #makeKeys(at: string): Promise<void> {
    const calls = {
      [placeholders.live]: ['live'],
      [placeholders.pinned]: ['pinned', '--as-of', '2025-03-11T18:00:00Z'],
    };
    for (const [name, words] of Object.entries(calls))
      for (const [index, side] of this.#sides.entries()) {
        const { status, stdout, stderr } = await side.run(at, ['keys', 'create', ...words]);
        if (status !== 0)
          throw new Error(`bourse keys create ${words.join(' ')} ended with ${status}: ${stderr}`);
        this.#secrets[index]![name] = stdout.trim();
      }
  }

  async #step({ at, words, runOf }: Step): Promise<void> {
    const [here, there] = await Promise.all(
      this.#sides.map(async (side) =>
        side.run(at, runOf === undefined ? words : [...words, await newestRun(side, at, runOf)]),
      ),
    );
    this.compared.commands++;
    const call = `bourse ${words.join(' ')}${runOf === undefined ? '' : ` (the run of ${runOf})`}`;
    if (isUnusable(here!) && isUnusable(there!)) {
      this.compared.unusable.push(call);
      return this.#telling.difference(`neither side could run ${call}: ${firstLine(here!.stderr)}`);
    }
    const differences: Difference[] = [];
    if (here!.status !== there!.status)
      differences.push({ where: 'exit status', here: statusWords(here!), there: statusWords(there!) });
    const [report, beside] = [reportOf(here!), reportOf(there!)];
    if (differences.length === 0 && report !== beside)
      differences.push({ where: 'report', ...cut(report, beside) });
    if (differences.length === 0) return;
    this.compared.differentCommands++;
    this.#telling.difference(differenceWords(`${call}, at ${at}`, differences));
  }

  /** Asks requests by their numbers. Differences are told in this order. */
  async #askAll(seed: number, first: number, last: number, isWhole: boolean): Promise<void> {
    const versions = await this.#version();
    const told = new Map<number, string[]>();
    let [next, toTell] = [first, first];
    const askNext = async (): Promise<void> => {
      while (next < last) {
        const index = next++;
        const words = await this.#ask(makeRequest(new Random(seed, index), versions, isWhole));
        told.set(
          index,
          words.map((one) => `request ${index}: ${one}`),
        );
        for (let found = told.get(toTell); found !== undefined; found = told.get(++toTell)) {
          told.delete(toTell);
          for (const one of found) this.#telling.difference(one);
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, askNext));
  }

  /** The version of the first side's store. */
  async #version(): Promise<number> {
    const headers = { host: 'localhost', authorization: `Bearer ${this.#secrets[0][placeholders.live]}` };
    const { headers: sent } = await this.#sides[0].ask({
      method: 'GET',
      target: '/api/v2/server/runs?limit=1',
      headers,
    });
    return Number(sent.get('x-data-version') ?? 0);
  }

  /** Asks one request, and for pages behind its answer; the differences in words. */
  async #ask({ endpoint, method, target, headers, pages, again }: Request): Promise<string[]> {
    const told: string[] = [];
    const pair = async (sentTo: (at: 0 | 1) => Sent, title: string) => {
      const sent = [sentTo(0), sentTo(1)];
      const answers = (await Promise.all(this.#sides.map((side, at) => askPatiently(side, sent[at]!)))) as [
        Answer,
        Answer,
      ];
      const plain = await plainOf(answers, this.#secrets, (bytes) => this.#keep(bytes));
      const differences = differencesOf(plain[0].parts, plain[1].parts);
      this.#count(`${endpoint} ${answers[0].status}`, differences.length > 0);
      if (differences.length > 0) told.push(differenceWords(title, differences));
      return { answers, keys: plain.map(({ pageKey }) => pageKey), areEqual: differences.length === 0 };
    };
    const request = (at: 0 | 1): Sent => {
      const own = (text: string): string => withSecrets(text, this.#secrets[at]);
      return { method, target: own(target), headers: mapValues(headers, own) };
    };
    const words = `${method} ${target}`;
    let { answers, keys, areEqual } = await pair(request, words);
    const tags = answers.map((answer) => answer.headers.get('etag'));
    const tagged = (at: 0 | 1): Sent => ({
      ...request(at),
      headers: { ...request(at).headers, 'if-none-match': tags[at]! },
    });
    if (again && areEqual && tags.every((tag) => tag !== undefined))
      await pair(tagged, `${words} with its tag`);
    for (let page = 1; page <= pages && areEqual && keys.every((key) => key !== null); page++) {
      const found = keys;
      ({ keys, areEqual } = await pair(
        (at) => behind(request(at), found[at]!),
        `${words}, page ${page + 1}`,
      ));
    }
    return told;
  }

  #count(name: string, differs: boolean): void {
    this.compared.requests++;
    if (differs) this.compared.different++;
    const counts = this.compared.tally.get(name) ?? { equal: 0, different: 0 };
    counts[differs ? 'different' : 'equal']++;
    this.compared.tally.set(name, counts);
  }

  #keep(bytes: Buffer): string {
    const path = join(this.#folder, `answer-${this.#kept++ % 2}`);
    writeFileSync(path, bytes);
    return path;
  }
}

/** The number of the newest run of a file, or of a deletion of a dataset; the service itself says it. */
async function newestRun(side: Side, at: string, runOf: string): Promise<string> {
  const { stdout } = await side.run(at, ['query', '/api/v2/server/runs?sort=desc&limit=1000']);
  type Run = { readonly run: number; readonly kind: string; readonly dataset: string; readonly file: string };
  const { result } = JSON.parse(stdout) as { result: { data: readonly Run[] } };
  const found = result.data.find(
    ({ kind, dataset, file }) => file === runOf || (kind === 'delete' && dataset === runOf),
  );
  return String(found?.run ?? 0);
}

const firstLine = (words: string): string => words.trim().split('\n', 1)[0]!;
const statusWords = (finished: Finished): string => `${finished.status} ${firstLine(finished.stderr)}`.trim();

const mapValues = (
  record: Readonly<Record<string, string>>,
  map: (text: string) => string,
): Record<string, string> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));

const withSecrets = (text: string, secrets: Secrets): string =>
  Object.entries(secrets).reduce((found, [name, secret]) => found.replaceAll(name, secret), text);

/** The same request for its next page. */
function behind(sent: Sent, key: string): Sent {
  const target = sent.target.replace(/(?<=[?&])next_page_key=[^&]*&?/g, '').replace(/[?&]$/, '');
  return {
    ...sent,
    target: `${target}${target.includes('?') ? '&' : '?'}next_page_key=${encodeURIComponent(key)}`,
  };
}

/**
 * A refusal for want of time, or of too many answers in bulk at once, says when to ask again; for so many
 * times at the most.
 */
const TIMES_MAX = 120;

/** Asks as clients do. A kept connection may be ended at the moment at which it is used again. */
async function askPatiently(side: Side, sent: Sent): Promise<Answer> {
  for (let left = TIMES_MAX; ; left--) {
    const answer = await side.ask(sent).catch(() => side.ask(sent));
    if (![429, 503].includes(answer.status) || left === 0) return answer;
    await sleep(1_000 * Number(answer.headers.get('retry-after') ?? 1));
  }
}

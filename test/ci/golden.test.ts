// The comparison with another commit (`npm run golden`): what it says of this commit beside itself, and of
// one that answers otherwise.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { after, test } from 'node:test';
import { runCommand } from '../commands.ts';
import { clock, type Finished, type Sent, type Side, writeFiles } from '../golden/checkout.ts';
import { type Answer, differencesOf, plainOf } from '../golden/compare.ts';
import { Comparison } from '../golden/comparison.ts';
import { makeWorld } from '../golden/world.ts';
import { LocalServer } from '../local-server.ts';
import { seed } from '../seed.ts';
import { copyStore, TestFolder } from '../stores.ts';

// The common process of commands is one of this file, under the false clock.
delete process.env.TEST_COMMAND_HOST;
process.env.NODE_OPTIONS = `--import=${clock}`;
process.env.GOLDEN_CLOCK = '2025-01-01T00:00:00Z';

const temporary = new TestFolder();
const folder = temporary.path('files');
mkdirSync(folder);
const opened: LocalSide[] = [];
after(async () => {
  for (const side of opened) await side.close();
  temporary.close();
});

/** Runs a command on a store at a moment. */
const runOn = (store: string, at: string, words: readonly string[]): Promise<Finished> =>
  runCommand({
    ...{ words, folder },
    environment: { ...process.env, BOURSE_STORE: store, GOLDEN_CLOCK: at, NO_COLOR: '1' },
  });

const ran = new Map<string, Promise<Finished>>();

/**
 * A store in this checkout, and a service in this process. Of several on one store each command is run once.
 */
class LocalSide implements Side {
  readonly #store: string;
  #server: LocalServer | null = null;

  constructor(name: string) {
    this.#store = temporary.storeUrl(name);
    opened.push(this);
  }

  run(at: string, words: readonly string[]): Promise<Finished> {
    const name = JSON.stringify([this.#store, at, words]);
    const found = ran.get(name) ?? runOn(this.#store, at, words);
    ran.set(name, found);
    return found;
  }

  async serve(at: string): Promise<void> {
    await this.close();
    this.#server = await LocalServer.open(this.#store, () => Date.parse(at));
  }

  async ask(sent: Sent): Promise<Answer> {
    const response = await this.#server!.ask(sent);
    const body = Buffer.from(await response.arrayBuffer());
    return { status: response.status, headers: new Map(response.headers), body };
  }

  async close(): Promise<void> {
    await this.#server?.close();
    this.#server = null;
  }
}

const told: string[] = [];
const compare = (sides: readonly [Side, Side]): Comparison =>
  new Comparison(sides, folder, { difference: (words) => void told.push(words), progress: () => undefined });

test('two services on one store answer alike, and one on a store that lacks a run does not', async () => {
  const world = makeWorld(seed, 'small');
  writeFiles(folder, world.files);
  const here = new LocalSide('here');
  const equal = await compare([here, new LocalSide('here')]).run(world, 'small', { seed, count: 120 });
  assert.deepEqual(told, []);
  assert.deepEqual([equal.different, equal.differentCommands, equal.unusable], [0, 0, []]);
  const good = [...equal.tally.keys()].filter((name) => name.endsWith(' 200'));
  assert.ok(good.length >= 15, `good answers of ${good.join(', ')}`);

  for (const side of opened) await side.close();
  copyStore(temporary.storeUrl('here'), temporary.storeUrl('there'));
  const there = new LocalSide('there');
  const { askedAt } = world.phases.at(-1)!;
  const steps = [{ at: askedAt, words: ['undo'], runOf: 'us-friday.csv' }];
  await compare([there, there]).run({ ...world, phases: [{ steps, askedAt }] }, 'small', { seed, count: 0 });
  const without = { ...world, phases: [{ steps: [], askedAt }] };
  const other = await compare([here, there]).run(without, 'small', { seed, count: 20 });
  assert.ok(other.different > 0);
  assert.match(told[0]!, /^request \d+: \w+ \/api\/v2\/.*\n {2}header x-data-version\n {4}here: {2}"\d+"/);
});

const json = (body: string, more: Readonly<Record<string, string>> = {}): Answer => ({
  ...{ status: 200, body: Buffer.from(body) },
  headers: new Map(Object.entries({ 'content-type': 'application/json', ...more })),
});

test('answers are compared without keys, page keys and identifiers of requests, and cut to where they differ', async () => {
  const answer = (secret: string, page: string, close: string): Answer =>
    json(
      `{"reference":null,"result":{"next_page_key":"${page}","next_page_url":"https://x/?secret_key=${secret}&next_page_key=${page}","close":${close}}}`,
      { etag: `"${page}"`, date: secret, 'x-request-id': secret },
    );
  const [here, there] = [answer('one', 'P1', '1.25'), answer('other', 'P2', '1.25')];
  const secrets = [{ KEY: 'one' }, { KEY: 'other' }] as const;
  const keep = (): string => assert.fail('text needs no file');
  const [plain, beside] = await plainOf([here, there], secrets, keep);
  assert.deepEqual([plain.pageKey, beside.pageKey], ['P1', 'P2']);
  assert.deepEqual(differencesOf(plain.parts, beside.parts), []);

  const [, changed] = await plainOf([here, answer('other', 'P2', '1.26')], secrets, keep);
  const [difference, ...more] = differencesOf(plain.parts, changed.parts);
  assert.deepEqual(more, []);
  assert.match(difference!.where, /^body, from character \d+$/);
  assert.match(difference!.here, /"close":1\.25\}\}$/);
  assert.match(difference!.there, /"close":1\.26\}\}$/);
  const refused = { ...here, status: 400 };
  const [one, two] = await plainOf([here, refused], [secrets[0], secrets[0]], keep);
  assert.deepEqual(differencesOf(one.parts, two.parts), [{ where: 'status', here: '200', there: '400' }]);
});

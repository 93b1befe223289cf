// The container image's files, as far as they can be judged without a container engine.
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isOlder } from '../src/base/runtime.ts';
import { limits } from '../src/contract/limits.ts';

const root = join(import.meta.dirname, '..');
const read = (name: string): string => readFileSync(join(root, name), 'utf8');
const dockerfile = read('Dockerfile');

/** What the image is built from: the sources of every COPY out of the project. */
const copied = Array.from(dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm), ([, names]) =>
  names!.split(' '),
).flat();

test('what the image is built from is there, and nothing else is sent to the engine', () => {
  assert.ok(copied.length > 0);
  assert.deepEqual(
    copied.filter((name) => !existsSync(join(root, name))),
    [],
  );
  const lines = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  assert.deepEqual(lines.sort(), ['*', ...new Set(copied.map((name) => `!${name}`))].sort());
});

test('every stage is built on one image, pinned by its digest, with the Node.js version of a checkout', () => {
  const base = /^ARG NODE_IMAGE=node:([\d.]+)-bookworm-slim@sha256:[0-9a-f]{64}$/m.exec(dockerfile);
  assert.ok(base !== null, 'the base image has a digest');
  assert.equal(base[1], (JSON.parse(read('tools/node/package.json')) as { version: string }).version);
  const stages = Array.from(dockerfile.matchAll(/^FROM (?:\$\{(\w+)\})?/gm), ([, argument]) => argument);
  assert.deepEqual(stages, ['NODE_IMAGE', 'NODE_IMAGE']);
});

test('the command, its page, doctor and the package ask for one Node.js, the image has it', () => {
  const least = /needs Node\.js ([\d.]+) or newer/.exec(read('bin/bourse'))![1]!;
  const { publishConfig } = JSON.parse(read('package.json')) as { publishConfig: { engines: object } };
  assert.deepEqual(publishConfig.engines, { node: `>=${least}` });
  assert.ok(read('src/cli/commands/doctor.ts').includes(`NODE_LEAST = '${least}'`));
  assert.ok(
    read('docs/operating/install.md').startsWith(`# Installing\n\nBourse runs on Node.js ${least} or newer.`),
  );
  assert.ok(!isOlder(/NODE_IMAGE=node:([\d.]+)/.exec(dockerfile)![1]!, least));
});

test('the image runs as a user without privileges, in exec form, with its data in a volume', () => {
  const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
  assert.match(last, /^USER node$/m);
  assert.match(last, /^VOLUME \/var\/lib\/bourse$/m);
  assert.match(last, /^ENTRYPOINT \["bourse"\]$/m);
  assert.match(read('bin/bourse'), /^exec "\$node" .*"\$@"\n$/m);
});

test('pages, units and images have one layout: /opt/bourse and /var/lib/bourse', () => {
  const files = [
    ...globSync('docs/{using,operating}/*.md', { cwd: root }),
    ...globSync('deploy/**/*.{service,yaml,conf}', { cwd: root }),
    ...['README.md', 'Dockerfile', 'compose.yaml'],
  ];
  const places = files.flatMap((name) =>
    Array.from(
      read(name).matchAll(/(?<![\w.~/-])(\/(?:(?:srv|opt|var\/lib)\/\w+|data\b))/g),
      ([, place]) => `${name}: ${place}`,
    ),
  );
  const allowed = /: \/(?:opt\/bourse|var\/lib\/(?:bourse|postgresql))$/;
  assert.ok(places.length > 20);
  assert.deepEqual(
    places.filter((one) => !allowed.test(one)),
    [],
  );
});

test('an engine waits longer for the service to stop than open requests have to finish', () => {
  const seconds = Number(/stop_grace_period: (\d+)s/.exec(read('compose.yaml'))![1]);
  assert.ok(seconds * 1000 > limits.stopTimeoutMs);
});

// Examples that cannot be run in a test, each with the reason and what is looked at instead.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

const withoutCurl: readonly (readonly [RegExp, string])[] =
  spawnSync('curl', ['--version']).status === 0 ? [] : [[/^curl\b/, 'curl is not on this machine']];

const reasons: readonly (readonly [form: RegExp, reason: string])[] = [
  [
    /postgres:\/\/\S+@db\.example\.com/,
    'a server of PostgreSQL has to be there: test/postgres runs these commands on one',
  ],
  ...withoutCurl,
  [/^pip\b/, "pip would install into this machine's Python: test/ci/package.test.ts does, in a folder"],
  [/^np[mx]\b/, 'npm would install or test the project within its own test: its scripts are looked up'],
  [/^(?:sudo )?docker\b/, 'docker needs a container engine: its calls of bourse are looked up'],
  [/^(?:sudo )?systemctl\b/, 'systemctl needs systemd as process 1'],
  [/^sudo\b/, 'sudo needs the right to become another user: its calls of bourse are looked up'],
  [/^cd\b/, 'cd leads to a folder of another machine'],
  [/^\S*bourse import .*--watch\b/, 'a watch goes on until it is stopped: its flags are looked up'],
  [/^\S*bourse mcp\b/, 'bourse mcp waits for an assistant: test/mcp asks it by the official client'],
  [/^\S*bourse demo\b/, 'bourse demo is what this test asks: another would end its key'],
];

/** What is known of scripts. */
const own = ['ci', 'install', 'pack'];

export const programs = {
  /** Why a line cannot be run here; null where it can. */
  whyNot: (line: string): string | null => reasons.find(([form]) => form.test(line))?.[1] ?? null,

  /** What is wrong with calls of npm's scripts in a text. */
  oddScripts: (text: string): string[] =>
    Array.from(text.matchAll(/\bnpm (?:run )?([a-z:-]+)/g), ([, name]) => name!)
      .filter((name) => !own.includes(name) && !Object.hasOwn(manifest.scripts, name))
      .map((name) => `npm has no script ${name}`),
};

/** Blocks for other programs: what each kind is, and what can be seen of it without the program. */
export const foreignKinds: Readonly<
  Record<string, { readonly reason: string; readonly isOdd: (text: string) => boolean }>
> = {
  ini: {
    reason: 'ini is for systemd, which has to be process 1: its form and its calls of bourse are looked at',
    isOdd: (text) => !lines(text).every((line) => /^(?:\[\w+\]|\w+=.+)$/.test(line)),
  },
  cron: {
    reason: 'cron has to be there: the fields of a line and its calls of bourse are looked at',
    isOdd: (text) => !lines(text).every((line) => /^(?:[\d*,/-]+\s+){5}\S/.test(line)),
  },
  nginx: { reason: 'nginx has to be there: its braces are looked at', isOdd: (text) => !isBalanced(text) },
  caddy: { reason: 'Caddy has to be there: its braces are looked at', isOdd: (text) => !isBalanced(text) },
  yaml: { reason: 'yaml is for another program: its calls of bourse are looked at', isOdd: () => false },
  promql: { reason: 'promql is for Prometheus', isOdd: (text) => !isBalanced(text) },
};

const lines = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '');

function isBalanced(text: string): boolean {
  const depth = Array.from(text).reduce(
    (now, letter) => now + Number(letter === '{') - Number(letter === '}'),
    0,
  );
  return depth === 0;
}

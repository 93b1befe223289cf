// Completion of the command line by the shells themselves: bash, and zsh and fish where they are installed
// (contract 10.1).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { Workshop } from './service.ts';

const shop = new Workshop();
after(() => shop.close());

mkdirSync(shop.path('here/incoming'), { recursive: true });
for (const name of ['prices.csv', 'prices.json', "it's.csv"]) writeFileSync(shop.path(`here/${name}`), '');

/**
 * What is typed, and what the shell offers then: all of it, or where a list begins with `…` at least that.
 */
const typed: readonly [line: string, offered: readonly string[]][] = [
  ['bourse im', ['import']],
  ['bourse ', ['…', 'backup', 'completion', 'copy', 'delete', 'doctor', 'keys', 'query', 'serve']],
  ['bourse import ec', ['economic-event-codes', 'economic-events']],
  ['bourse export opt', ['option-contracts']],
  ['bourse import bars pri', ['prices.csv', 'prices.json']],
  ['bourse import bars prices.csv prices.js', ['prices.json']],
  ['bourse import bars it', ["it's.csv"]],
  ['bourse import bars --watch ', ['incoming']],
  ['bourse import bars --pr', ['--preset', '--prices']],
  ['bourse import bars --prices ', ['all', 'raw', 'split']],
  ['bourse import --schema st', ['stock']],
  ['bourse import --schema stock b', ['bars']],
  ['bourse import bars --schema=st', ['stock']],
  ['bourse import bars --interval D', ['DAY']],
  ['bourse import bars --preset yfinance-c', ['yfinance-chain']],
  ['bourse import bars --symbol ', []],
  ['bourse keys ', ['create', 'help', 'list', 'move', 'revoke']],
  ['bourse keys move --f', ['--follow']],
  ['bourse delete corporate-actions --a', ['--action-type']],
  ['bourse serve --tls-cert pri', ['prices.csv', 'prices.json']],
  ['bourse serve --tls', ['--tls-cert', '--tls-key']],
  ['bourse status ', []],
  ['bourse nothing --', ['…', '--help']],
  ['bourse completion ', ['bash', 'fish', 'zsh']],
];

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/**
 * For a shell: a program that reads a script. Then, for each line, one that writes what is offered at its
 * end, a word a line.
 */
const shells: Readonly<
  Record<string, readonly [read: (script: string) => string, offer: (line: string) => string]>
> = {
  // As Readline does: words are also cut at = and :.
  bash: [
    (script) => `. ${quoted(script)}; complete -p bourse > /dev/null || exit 9`,
    (line) => `
      COMP_WORDS=(${line.replaceAll('=', ' = ')}${/[ =]$/.test(line) ? " ''" : ''})
      COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
      _bourse 2> /dev/null
      printf '%s\\n' "\${COMPREPLY[@]}"`,
  ],
  fish: [
    (script) => `source ${quoted(script)}`,
    (line) => `complete -C ${quoted(line)} | string split -f 1 \\t`,
  ],
};

/** Shells keep files in the home folder. */
const env = { ...process.env, HOME: shop.folder, XDG_CONFIG_HOME: shop.folder, XDG_DATA_HOME: shop.folder };

const isInstalled = (shell: string): boolean => spawnSync(shell, ['-c', 'true'], { env }).status === 0;

const scripts = new Map<string, string>();
async function scriptFor(shell: string): Promise<string> {
  const path = shop.path(`completion.${shell}`);
  if (!scripts.has(shell)) writeFileSync(path, await shop.must('completion', shell));
  scripts.set(shell, path);
  return path;
}

/** What a shell offers at the end of each line. */
async function offeredBy(shell: string, lines: readonly string[]): Promise<string[][]> {
  const [read, offer] = shells[shell]!;
  const program = [read(await scriptFor(shell)), ...lines.flatMap((line) => [offer(line), 'echo ----'])].join(
    '\n',
  );
  const options = { cwd: shop.path('here'), encoding: 'utf8', env } as const;
  const { status, stdout, stderr } = spawnSync(shell, ['-c', program], options);
  assert.deepEqual([status, stderr], [0, ''], shell);
  return stdout
    .split('----\n')
    .slice(0, -1)
    .map((part) =>
      part
        .split('\n')
        .filter((word) => word !== '')
        .map((word) => word.replace(/^--schema=|\/$/g, ''))
        .sort(),
    );
}

/** What `--help` of a command lists, and of each below it: flags and commands by path. */
async function helpOf(path: string): Promise<[line: string, words: string[]][]> {
  const help = await shop.must(...path.split(' ').slice(1), '--help');
  const wordsOf = (text: string, form: RegExp): string[] =>
    Array.from(text.matchAll(form), ([, word]) => word!);
  const commands = wordsOf(help.split('\nCommands:\n')[1] ?? '', /^ {2}([a-z][a-z-]*)/gm).sort();
  const found: [string, string[]][] = [[`${path} --`, wordsOf(help, /^ {2}(?:-\w, )?(--[a-z-]+)/gm).sort()]];
  if (commands.length > 0) found.push([`${path} `, commands]);
  for (const name of commands) if (name !== 'help') found.push(...(await helpOf(`${path} ${name}`)));
  return found;
}

for (const shell of Object.keys(shells)) {
  const skip = isInstalled(shell) ? false : `${shell} is not installed`;

  test(`${shell} offers commands, datasets, flags, their values and files (contract 10.1)`, {
    skip,
  }, async () => {
    const offered = await offeredBy(
      shell,
      typed.map(([line]) => line),
    );
    for (const [index, [line, expected]] of typed.entries()) {
      const [mark, ...least] = expected;
      if (mark !== '…') assert.deepEqual(offered[index], expected, line);
      else
        assert.deepEqual(
          least.filter((word) => offered[index]!.includes(word)),
          least,
          line,
        );
    }
  });

  test(`${shell} offers what --help lists, of every command (contract 10.1)`, { skip }, async () => {
    const listed = await helpOf('bourse');
    assert.ok(listed.length > 20);
    const offered = await offeredBy(
      shell,
      listed.map(([line]) => line),
    );
    for (const [index, [line, words]] of listed.entries()) assert.deepEqual(offered[index], words, line);
  });
}

/** What one types into zsh on a terminal, and how the line is after a Tab. */
const completedByZsh: readonly [line: string, completed: string][] = [
  ['bourse im', 'bourse import '],
  ['bourse import opt', 'bourse import option-contracts '],
  ['bourse import bars prices.c', 'bourse import bars prices.csv '],
  ['bourse import bars --wa', 'bourse import bars --watch '],
  ['bourse import bars --watch ', 'bourse import bars --watch incoming/'],
  ['bourse import bars --schema st', 'bourse import bars --schema stock '],
  ['bourse import bars --schema=st', 'bourse import bars --schema=stock '],
  ['bourse keys rev', 'bourse keys revoke '],
  ['bourse delete corporate-actions --ac', 'bourse delete corporate-actions --action-type '],
];

/**
 * Starts zsh on a terminal of its own, types each line and Tab, has it write the line as it is then, and
 * clears it.
 */
const zshProgram = (script: string): string => `
  zmodload zsh/zpty
  zpty shell zsh -f -i
  await() { local text; while zpty -r shell text; do [[ $text == *"$1"* ]] && { print -r -- $text; return }; done }
  zpty -w shell ${quoted(`PS1= PS2=; cd ${quoted(shop.path('here'))}; autoload -U compinit; compinit -D -u; . ${quoted(script)}`)}
  zpty -w shell ${quoted(`show() { print -r -- "<<$BUFFER>>"; BUFFER= }; zle -N show; bindkey '^X' show; print rea''dy`)}
  await ready > /dev/null
  ${completedByZsh.map(([line]) => `zpty -w -n shell ${quoted(`${line}\t`)}$'\\x18'; await '>>'`).join('\n  ')}`;

const skipZsh = isInstalled('zsh') ? false : 'zsh is not installed';
test('zsh completes commands, datasets, flags, their values and files (contract 10.1)', {
  skip: skipZsh,
}, async () => {
  const options = { encoding: 'utf8', timeout: 120_000, env } as const;
  const program = zshProgram(await scriptFor('zsh'));
  // A line that is not completed is waited for without an end.
  const { stdout, stderr } = spawnSync('zsh', ['-f', '-c', program], options);
  assert.equal(stderr, '');
  const completed = Array.from(stdout.matchAll(/<<(.*)>>/g), ([, line]) => line);
  assert.deepEqual(
    completed,
    completedByZsh.map(([, line]) => line),
  );
});

test('completion of another shell is wrong usage that names the three (contract 10.1)', async () => {
  const { status, stderr } = await shop.run('completion', 'tcsh');
  assert.equal(status, 2);
  assert.match(stderr, /bash, zsh, fish/);
});

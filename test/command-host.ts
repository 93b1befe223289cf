// A process that runs one command after the other as bin/bourse runs one: loading the program is most of the
// cost of a command. It is asked on the socket that its argument names, and ends with the process that
// started it.
import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { runProgram } from '../src/cli/main.ts';
import { holdReader } from '../src/imports/read/reader-process.ts';

/** A command to run: its words, where, and its whole environment. */
export type Call = {
  readonly words: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/** What became of it. */
export type Finished = { readonly status: number; readonly stdout: string; readonly stderr: string };

const printed = { stdout: [] as Buffer[], stderr: [] as Buffer[] };

/** Keeps what is written on a stream, in place of writing it. */
function keepWritten(name: 'stdout' | 'stderr'): void {
  const write = (piece: string | Uint8Array, ...rest: readonly unknown[]): boolean => {
    printed[name].push(Buffer.from(piece as Uint8Array));
    const done = rest.at(-1);
    if (typeof done === 'function') process.nextTick(() => void done());
    return true;
  };
  process[name].write = write;
}

function takeEnvironment(environment: Call['environment']): void {
  for (const name of Object.keys(process.env))
    if (!Object.hasOwn(environment, name)) delete process.env[name];
  for (const [name, value] of Object.entries(environment)) process.env[name] = value;
}

/** The process that reads files goes on too, where its environment is the same but for settings of ours. */
let reader = { environment: '', release: holdReader() };

function keepReader(all: Call['environment']): void {
  const others = Object.entries(all).filter(([name]) => !name.startsWith('BOURSE_'));
  const environment = JSON.stringify(others);
  if (environment === reader.environment) return;
  reader.release();
  reader = { environment, release: holdReader() };
}

async function run({ words, folder, environment }: Call): Promise<Finished> {
  process.chdir(folder);
  takeEnvironment(environment);
  keepReader(environment);
  process.exitCode = 0;
  await runProgram(words);
  const [stdout, stderr] = [printed.stdout, printed.stderr].map((pieces) =>
    Buffer.concat(pieces.splice(0)).toString(),
  );
  return { status: Number(process.exitCode), stdout: stdout!, stderr: stderr! };
}

keepWritten('stdout');
keepWritten('stderr');
let last: Promise<unknown> = Promise.resolve();
createServer((connection) => {
  connection.on('error', () => undefined);
  createInterface({ input: connection }).on('line', (line) => {
    last = last
      .then(() => run(JSON.parse(line) as Call))
      .then((finished) => connection.write(`${JSON.stringify(finished)}\n`));
  });
}).listen(process.argv[2], () => process.send!('listening'));

process.once('disconnect', () => {
  rmSync(process.argv[2]!, { force: true });
  process.exit();
});

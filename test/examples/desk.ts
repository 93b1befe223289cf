// A folder of its own for each page, where its commands run on the store that all pages share.
import { execFile, spawn } from 'node:child_process';
import { globSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { importFile } from '../../src/imports/load/importers.ts';
import { openStore } from '../../src/store/engines.ts';
import { command, type Finished, runCommand } from '../commands.ts';
import { demoFile, demoKey } from '../demo-store.ts';
import { stored } from '../importing.ts';
import { pythonClient } from '../python.ts';
import { Server } from '../service.ts';
import { fileStore } from '../sqlite/files.ts';
import { wordsOf } from './commands.ts';
import { standIn } from './stand-ins.ts';

/** The service that the examples ask, and a key to it. */
export type Service = { readonly url: string; readonly key: string; readonly store: string };

/** Address, key and store of a demo that was started in a folder. */
export const serviceOf = (demo: Server, folder: string): Service => ({
  url: demo.url,
  key: demoKey(demo),
  store: fileStore(demoFile(folder)),
});

/** The address that the pages show. */
const SHOWN_ADDRESS = 'http://127.0.0.1:8080';

/** Folders of other machines, which become folders of the desk. */
const foreignFolders = /(?<![\w/.])\/(?=(?:backup|import|opt|srv|tmp|var)\/)/g;

/** Exit statuses beside 0 that are right: fault is found with this machine, and a number is asked for. */
const rightStatus = (line: string): number =>
  /bourse (?:check|doctor)/.test(line) ? 1 : /bourse undo$/.test(line) ? 2 : 0;

/**
 * A call of `bourse serve`, whose process is to be the shell's, on free ports instead of those that are
 * shown.
 */
const onFreePorts = (line: string): string =>
  `${line.replace(/(--\w*-?port) \d+/g, '$1 0').replace(/(\S*\bbourse serve)/, 'exec $1')} --port 0`;

/** A call of bourse of which a shell makes nothing but words: its words are the first group. */
const plainCall = /^(?:\S*\/)?bourse((?: +(?:'[^']*'|"[^"$`\\]*"|[\w@%+=:,./-]+))+)(?: +# .*)?$/;

export class Desk {
  readonly folder: string;
  readonly service: Service;
  /** A small store that nobody has open, for what copies a whole one. */
  readonly #ownStore: string;

  constructor(folder: string, service: Service) {
    this.folder = folder;
    this.service = service;
    this.#ownStore = fileStore(join(folder, 'own.db'));
    mkdirSync(join(folder, 'bin'), { recursive: true });
    symlinkSync(command, join(folder, 'bin/bourse'));
    this.#linkForeign('opt/bourse/node_modules/.bin');
  }

  #linkForeign(place: string): void {
    mkdirSync(join(this.folder, place), { recursive: true });
    symlinkSync(command, join(this.folder, place, 'bourse'));
  }

  /** Writes a file that the page shows. */
  write(name: string, text: string): void {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${text}\n`);
    if (name.endsWith('.csv')) writeFileSync(`${path}.gz`, gzipSync(`${text}\n`));
  }

  /** What a page shows as it holds here: the address, the key, folders. */
  here(text: string): string {
    return text
      .replaceAll(SHOWN_ADDRESS, this.service.url)
      .replaceAll('<API_KEY>', this.service.key)
      .replace(foreignFolders, `${this.folder}/`);
  }

  /** What came here as a page shows it. */
  shown(text: string): string {
    return text
      .replaceAll(this.service.url, SHOWN_ADDRESS)
      .replaceAll(this.service.key, '<API_KEY>')
      .replaceAll(`${this.folder}/`, '/');
  }

  /**
   * Runs a line as a shell does; what a terminal shows of it, or why it is at fault. Where nobody compares
   * what is printed, a plain call runs in the common process.
   */
  async run(
    line: string,
    isShown = false,
  ): Promise<{ readonly printed: string; readonly problem: string | null }> {
    const missing = await this.#makeFiles(line);
    if (missing !== undefined)
      return {
        printed: '',
        problem: `${line}: no file ${missing}: show it on the page as \`\`\`csv ${missing}, or add it to test/examples/stand-ins.ts`,
      };
    const ready = this.here(await this.#withNumbers(line)).replace(/\bcurl /g, 'curl -sS ');
    for (const [folder] of ready.matchAll(new RegExp(`${this.folder}/[^\\s'"]*/`, 'g')))
      mkdirSync(folder, { recursive: true });
    for (const [, folder] of ready.matchAll(/> ~\/(\S+)\//g))
      mkdirSync(join(this.folder, folder!), { recursive: true });
    if (/\bbourse serve\b/.test(ready)) return { printed: '', problem: await this.#serve(ready) };
    const { status, stdout, stderr } = await (isShown
      ? this.#shell(`{ ${ready}\n} 2>&1`)
      : this.#call(ready));
    // Pages are tried side by side.
    const printed = this.shown(stdout + stderr).replace(/^bourse: waiting for another write .*\n/m, '');
    const isDone = status === 0 || status === rightStatus(line);
    return { printed, problem: isDone ? null : `${line}: ended with ${status}: ${printed}` };
  }

  /** Sees to it that the files which a line reads are there; the first that nobody knows. */
  async #makeFiles(line: string): Promise<string | undefined> {
    const read = line.replace(/(?:>\s*|--out |--write-map )\S+/g, '');
    for (const [name] of read.matchAll(
      /(?<![\w/.-])[\w*][\w*/-]*\.(?:csv|json|parquet|pem)(?:\.gz)?(?![\w.])/g,
    )) {
      if (globSync(name, { cwd: this.folder }).length > 0) continue;
      if (!(await standIn(this.folder, name))) return name;
    }
    return undefined;
  }

  /** Puts runs, keys and instruments that are there where a line names those of its author. */
  async #withNumbers(line: string): Promise<string> {
    const instrument = /\bdelete instruments --symbol (\w+)/.exec(line);
    if (instrument !== null) await this.#newRun(instrument[1]!);
    const [, verb] = /\bkeys (revoke|move) \w+/.exec(line) ?? [];
    if (verb !== undefined) {
      const { stderr } = await this.#shell('bin/bourse keys create someone --as-of 2025-03-03T21:00:00Z');
      return line.replace(/\bkeys \w+ \w+/, `keys ${verb} ${/\(id (\w+)\)/.exec(stderr)![1]!}`);
    }
    const named = line.replace(/\bFILE\b/, this.#fresh('file', '.backup')).replace(/\bNAME\b/, 'someone');
    if (!/\bundo (?:RUN|\d+)/.test(line)) return named;
    return named.replace(/\bundo (?:RUN|\d+)/, `undo ${await this.#newRun(this.#fresh('SYMBOL', ''))}`);
  }

  #count = 0;

  #fresh(name: string, ending: string): string {
    return `${name}${++this.#count}${ending}`;
  }

  /** Imports an instrument; the number of the run. */
  async #newRun(symbol: string): Promise<number> {
    const path = join(this.folder, `${symbol}.csv`);
    writeFileSync(path, `asset_schema,country_iso_code,symbol\nstock,US,${symbol}\n`);
    const { runId } = await stored(this.service, path, (store, request) =>
      importFile(store, 'instruments', { ...request }),
    );
    return runId!;
  }

  async #environment(line: string): Promise<NodeJS.ProcessEnv> {
    if (/bourse backup\b/.test(line)) await (await openStore(this.#ownStore, 'write')).close();
    const store = /bourse backup\b/.test(line)
      ? this.#ownStore
      : /bourse restore\b/.test(line)
        ? fileStore(join(this.folder, this.#fresh('restored', '.db')))
        : this.service.store;
    return {
      ...process.env,
      // `node` is the one that runs the tests.
      PATH: `${join(this.folder, 'bin')}:${dirname(process.execPath)}:${process.env.PATH}`,
      HOME: this.folder,
      NO_COLOR: '1',
      PYTHONDONTWRITEBYTECODE: '1',
      PYTHONPATH: pythonClient,
      BOURSE_STORE: store,
    };
  }

  async #call(line: string): Promise<Finished> {
    const words = plainCall.exec(line)?.[1];
    if (words === undefined) return this.#shell(line);
    const environment = await this.#environment(line);
    return runCommand({ words: wordsOf(words), folder: this.folder, environment });
  }

  async #shell(line: string): Promise<Finished> {
    const env = await this.#environment(line);
    return new Promise((resolve) => {
      const options = { cwd: this.folder, env, maxBuffer: 64 * 1024 * 1024 };
      const child = execFile('sh', ['-c', line], options, (error, stdout, stderr) =>
        resolve({ status: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
      );
      child.stdin!.end();
    });
  }

  /** Starts a service on a free port instead of the one shown and stops it again; what is wrong with it. */
  async #serve(line: string): Promise<string | null> {
    const child = spawn('sh', ['-c', `${onFreePorts(line)}`], {
      cwd: this.folder,
      env: await this.#environment(line),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const server = new Server(child);
    try {
      await server.listening;
    } catch (error) {
      return `${line}: ${error instanceof Error ? error.message : String(error)}`;
    }
    const status = await server.stop();
    return status === 0 ? null : `${line}: ended with ${status}`;
  }
}

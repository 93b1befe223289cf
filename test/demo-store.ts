// The store of `bourse demo`, made once a day for all test files: making it costs more than many of them.
import { createHash } from 'node:crypto';
import {
  constants,
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { Server, Workshop } from './service.ts';
import { until } from './until.ts';

const root = join(import.meta.dirname, '..');
const kept = join(root, 'node_modules/.cache/bourse-demo');

/** The file of the demo that was started in a folder. */
export const demoFile = (folder: string): string => join(folder, 'data/demo.db');

/** Starts a demo in the folder of a workshop: it makes its store unless one of today is there. */
export async function startDemo(shop: Workshop, port = '0'): Promise<Server> {
  const server = new Server(shop.start(['demo', '--port', port]));
  await server.listening;
  await until('the demo has a key', () => server.printed.includes('Ctrl-C'));
  return server;
}

export const demoKey = ({ printed }: Server): string => /Your key is (\S+)/.exec(printed)![1]!;

/** A name of all that makes the store: the sources, the samples and the day. */
function nameOfToday(): string {
  const hash = createHash('sha256');
  for (const name of globSync(['src/**/*.ts', 'examples/*'], { cwd: root }).sort())
    hash.update(name).update(readFileSync(join(root, name)));
  return `${new Date().toISOString().slice(0, 10)}-${hash.digest('hex').slice(0, 20)}.db`;
}

async function make(file: string): Promise<void> {
  const shop = new Workshop();
  mkdirSync(kept, { recursive: true });
  const folder = mkdtempSync(join(kept, 'making-'));
  try {
    const server = await startDemo(shop);
    await server.stop();
    copyFileSync(demoFile(shop.folder), join(folder, 'demo.db'));
    // At once: another test file may look for it, or make it too.
    renameSync(join(folder, 'demo.db'), file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    shop.close();
  }
}

/**
 * Puts a copy of the store into a folder in which a demo will be started. The first test file of a day makes
 * it. The demo itself looks whether it is of today: if midnight has passed, it makes its own.
 */
export async function copyDemo(folder: string): Promise<void> {
  const name = nameOfToday();
  mkdirSync(join(folder, 'data'));
  while (!isCopied(join(kept, name), demoFile(folder))) {
    await make(join(kept, name));
    for (const old of globSync('*.db', { cwd: kept }))
      if (old !== name) rmSync(join(kept, old), { force: true });
  }
}

function isCopied(from: string, to: string): boolean {
  try {
    copyFileSync(from, to, constants.COPYFILE_FICLONE);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

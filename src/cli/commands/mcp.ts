// `bourse mcp`
import { once } from 'node:events';
import { Command } from 'commander';
import { causeOf } from '../../base/observe.ts';
import { type ErrorFacts, type ErrorWord, errors, Refusal } from '../../contract/errors.ts';
import { QueryRunner } from '../../queries/index.ts';
import { errorBody } from '../../queries/render/envelope.ts';
import type { Ask, Reply } from '../../serve/mcp/answer.ts';
import { QueryTurns } from '../../serve/threads/turns.ts';
import { pageKeySecret } from '../../store/control.ts';
import { DamagedData, damageWords } from '../../store/damage.ts';
import { openControl, openStore } from '../../store/engines.ts';
import type { Store } from '../../store/store.ts';
import { readSettings, UsageProblem } from '../config.ts';
import { examples, storeOption } from '../shared/flags.ts';
import { closing } from '../shared/opened-store.ts';
import { note } from '../shared/output.ts';
import { version } from '../shared/version.ts';
import { readRequest } from './query.ts';

/**
 * Loads the part of Bourse that needs the library. @throws UsageProblem where it was left out of the
 * installation
 */
async function loadMcp() {
  try {
    const [{ serveStdio }, { mcpServer }] = await Promise.all([
      import('@modelcontextprotocol/server/stdio'),
      import('../../serve/mcp/server.ts'),
    ]);
    return { serveStdio, mcpServer };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const cure = 'install Bourse without --omit=optional';
    throw new UsageProblem(`the library @modelcontextprotocol/server is not installed: ${cure}`);
  }
}

const failed = (word: ErrorWord, facts: ErrorFacts): Reply => ({
  status: errors[word].status,
  headers: {},
  text: JSON.stringify(errorBody(word, facts, '')),
});

/** What cannot be answered, in the words of the service. The cause of a fault goes to standard error. */
function problemOf(error: unknown): Reply {
  if (error instanceof Refusal) return failed(error.word, error.facts);
  note(causeOf(error));
  const cause = error instanceof DamagedData ? damageWords(error.damage) : null;
  const message =
    cause === null
      ? 'The service failed to answer; nothing is wrong with the request.'
      : `Stored data that this answer needs is damaged: ${cause}.`;
  return failed('internal', { message });
}

/** Answers from a store, as many requests at the same time as it takes. */
function askStore(store: Store, secret: Uint8Array): Ask {
  const runner = new QueryRunner(store, secret);
  const turns = new QueryTurns();
  turns.concurrency = store.concurrency;
  const service = { baseAddress: '', version: version() };
  const answer = async (target: string): Promise<Reply> => {
    const found = await runner.run(readRequest(target, service));
    if (found.kind === 'refusal') return failed(found.word, found.facts);
    return { status: 200, headers: found.headers, text: Buffer.from(found.body).toString() };
  };
  return (target, signal) =>
    new Promise((resolve) => {
      turns.add(async () => {
        if (signal.aborted) return resolve(failed('unavailable', { message: 'The call was cancelled.' }));
        resolve(await answer(target).catch(problemOf));
      });
    });
}

export function mcpCommand(): Command {
  return new Command('mcp')
    .addOption(storeOption())
    .addHelpText(...examples('bourse mcp --store sqlite:/srv/bourse/bourse.db'))
    .addHelpText(
      'after',
      '\nAn assistant starts this command, and speaks the Model Context Protocol over standard input and output. It needs no key and no service.\n',
    )
    .action(async (flags: { readonly store?: string }) => {
      const { store: url } = readSettings(flags);
      const { serveStdio, mcpServer } = await loadMcp();
      await closing(openStore(url, 'read'), async (store) => {
        const ask = askStore(store, await closing(openControl(url, 'write', note), pageKeySecret));
        const ended = once(process.stdin, 'close');
        const connection = serveStdio(() => mcpServer(version(), ask), {
          onerror: (error) => note(error.message),
        });
        await ended;
        await connection.close();
      });
    });
}

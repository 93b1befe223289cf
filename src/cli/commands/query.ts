// The answers of a service without one: `bourse query PATH…`, `bourse mcp` and `bourse openapi`
import { once } from 'node:events';
import type { Command } from 'commander';
import { causeOf } from '../../base/observe.ts';
import { type ErrorFacts, type ErrorWord, errors, Refusal, warnings } from '../../contract/errors.ts';
import { adjustedHeaders, NamesOfSteps } from '../../queries/adjusted.ts';
import { QueryRunner } from '../../queries/index.ts';
import type { Answer, QueryRequest, ServiceFacts } from '../../queries/query.ts';
import { errorBody, JSON_TYPE } from '../../queries/render/list.ts';
import type { Ask, Reply } from '../../serve/mcp/answer.ts';
import { readTarget } from '../../serve/request.ts';
import { ignoredHeader } from '../../serve/response.ts';
import { matchRoute, parseRequest, readQuery, unknownPath } from '../../serve/route.ts';
import { QueryTurns } from '../../serve/threads/turns.ts';
import { pageKeySecret } from '../../store/control.ts';
import { DamagedData, damageWords } from '../../store/damage.ts';
import { openControl, openStore } from '../../store/engines.ts';
import type { Store } from '../../store/store.ts';
import { readSettings, type SettingFlags, type Settings, UsageProblem, version } from '../config.ts';
import { command, type FlagsOf, settingFlags, storeFlag } from '../shared/flags.ts';
import { closing } from '../shared/opened-store.ts';
import { complain, note } from '../shared/output.ts';
import { EXIT_PARTLY } from '../shared/problem.ts';

/** The address of a service with these settings. */
const addressOf = ({ publicUrl, port }: Pick<Settings, 'publicUrl' | 'port'>): string =>
  publicUrl ?? `http://127.0.0.1:${port}`;

/** A service makes it of the rows of an answer, by a process of its own. */
const notParquet = (): Refusal =>
  new Refusal('invalid_parameter', {
    message: 'Only a service answers format=parquet: use csv or arrow here.',
    param: 'format',
  });

/** A store has no keys in use, no readiness and no process of its own. */
const notState = (): Refusal =>
  new Refusal('unknown_path', {
    message: 'Only a running service can answer its state.',
    hint: 'See what a store holds with bourse status, and its keys with bourse keys list.',
  });

/** A request as it is written in a URL, of which the host does not matter. @throws Refusal */
function readRequest(written: string, service: ServiceFacts): QueryRequest {
  const target = /^(https?:\/\/|\/)/i.test(written) ? written : `/${written}`;
  const { path, query: sent } = readTarget({ target, headers: {} });
  const match = matchRoute(path);
  if (match === null) throw unknownPath(path);
  const { name: endpoint, known } = match.route;
  if (endpoint === 'operateStatus') throw notState();
  const { query, ignored } = readQuery(sent, (name) => known.includes(name));
  const unknown = ignoredHeader(ignored, known);
  if (unknown !== null) note(`ignored parameters: ${unknown}`);
  const parameters = parseRequest(match, query);
  if (parameters.format === 'parquet') throw notParquet();
  return { endpoint, parameters, nowMs: Date.now(), wrapCsv: false, service };
}

/** Runs `work` with what answers from a store. */
const withRunner = (url: string, work: (runner: QueryRunner, store: Store) => Promise<void>): Promise<void> =>
  closing(openStore(url, 'read'), async (store) => {
    const secret = await closing(openControl(url, 'write', note), pageKeySecret);
    await work(new QueryRunner(store, secret), store);
  });

/** JSON gets the line end that CSV has; other bytes are whole. */
const endOf = (contentType: string): string => (contentType === JSON_TYPE ? '\n' : '');

/** The bytes of an answer; the address of its next page is a path, which the same command answers. */
function bytesOf({ body, next, contentType }: Answer & { kind: 'answer' }): Uint8Array {
  const end = Buffer.from(endOf(contentType));
  if (next === null) return Buffer.concat([body, end]);
  const path = `${next.address}&next_page_key=${next.key}`;
  note(`there is a next page: bourse query '${path}'`);
  const { at } = next;
  if (at === null) return Buffer.concat([body, end]);
  return Buffer.concat([body.subarray(0, at), Buffer.from(path), body.subarray(at), end]);
}

const write = (bytes: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()));
  });

function noteWarnings(headers: Readonly<Record<string, string>>): void {
  for (const [header, words] of warnings) if (header in headers) note(`${words}: ${headers[header]}`);
}

/** Writes one answer; whether the request had one. */
async function answerOne(runner: QueryRunner, written: string, service: ServiceFacts): Promise<boolean> {
  try {
    let request: QueryRequest | null = readRequest(written, service);
    const adjusted = new NamesOfSteps();
    while (request !== null) {
      const answer: Answer = await runner.run(request);
      if (answer.kind === 'refusal') throw new Refusal(answer.word, answer.facts);
      noteWarnings(answer.headers);
      if (answer.adjusted !== undefined) adjusted.add(answer.adjusted);
      await write(bytesOf(answer));
      request = answer.rest === undefined ? null : { ...request, from: answer.rest };
    }
    noteWarnings(adjustedHeaders(adjusted));
    return true;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const entry: { readonly status: number; readonly hint?: string } = errors[error.word];
    const hint = error.facts.hint ?? entry.hint;
    complain([`${entry.status} ${error.word}: ${error.facts.message}`, hint].filter(Boolean).join(' '));
    return false;
  }
}

export const queryCommand = (): Command =>
  command(
    'query',
    storeFlag,
    "bourse query '/api/v2/stock/bars/US:AAPL/DAY/latest?limit=5'",
    "bourse query '/api/v2/stock/bars/US:AAPL/60M/from/2025-03-03/to/2025-03-07?format=csv' > bars.csv",
    "bourse query '/api/v2/stock/reference/US:AAPL' | jq .result",
  )
    .argument('<path...>', 'path and query of a request, as in its URL; of a whole URL only these are used')
    .addHelpText(
      'after',
      `\nThe answer has the same bytes as that of a service. A key in the URL is not read. A refused request is an error and exit status ${EXIT_PARTLY}.\n`,
    )
    .action(async (paths: readonly string[], flags: FlagsOf<typeof storeFlag>) => {
      const { store: url, ...settings } = readSettings(flags);
      const service = { baseAddress: addressOf(settings), version: version() };
      await withRunner(url, async (runner) => {
        for (const path of paths)
          if (!(await answerOne(runner, path, service))) process.exitCode = EXIT_PARTLY;
      });
    });

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

/** An error in the words of the service. The cause of a fault goes to standard error. */
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
function askStore(runner: QueryRunner, { concurrency }: Store): Ask {
  const turns = new QueryTurns();
  turns.concurrency = concurrency;
  const service = { baseAddress: '', version: version() };
  const answer = async (target: string): Promise<Reply> => {
    const found = await runner.run(readRequest(target, service));
    if (found.kind === 'refusal') return failed(found.word, found.facts);
    return { status: 200, headers: found.headers, text: Buffer.from(found.body).toString() };
  };
  return (target, signal) =>
    new Promise((resolve) => {
      const work = async (): Promise<void> => {
        if (signal.aborted) return resolve(failed('unavailable', { message: 'The call was cancelled.' }));
        resolve(await answer(target).catch(problemOf));
      };
      turns.add({ keyId: null, work });
    });
}

export const mcpCommand = (): Command =>
  command('mcp', storeFlag, 'bourse mcp --store sqlite:/srv/bourse/bourse.db')
    .addHelpText(
      'after',
      '\nAn assistant starts this command, and speaks the Model Context Protocol over standard input and output. It needs no key and no service.\n',
    )
    .action(async (flags: FlagsOf<typeof storeFlag>) => {
      const { store: url } = readSettings(flags);
      const { serveStdio, mcpServer } = await loadMcp();
      await withRunner(url, async (runner, store) => {
        const ask = askStore(runner, store);
        const ended = once(process.stdin, 'close');
        const connection = serveStdio(() => mcpServer(version(), ask), {
          onerror: (error) => note(error.message),
        });
        await ended;
        await connection.close();
      });
    });

export const openapiCommand = (): Command =>
  command(
    'openapi',
    settingFlags('publicUrl'),
    'bourse openapi > openapi.json',
    'bourse openapi --public-url https://data.example.com/bourse',
  ).action(async (flags: SettingFlags) => {
    const { openApiDocument } = await import('../../serve/openapi/document.ts');
    const document = openApiDocument(addressOf(readSettings(flags)), version());
    process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
  });

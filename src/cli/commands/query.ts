// `bourse query PATH…`
import { Command } from 'commander';
import { errors, Refusal } from '../../contract/errors.ts';
import { warnings } from '../../contract/warnings.ts';
import { adjustedHeaders, NamesOfSteps } from '../../queries/adjusted.ts';
import { QueryRunner } from '../../queries/index.ts';
import type { Answer, QueryRequest, ServiceFacts } from '../../queries/query.ts';
import { JSON_TYPE } from '../../queries/render/envelope.ts';
import { readTarget } from '../../serve/request.ts';
import { ignoredHeader } from '../../serve/response.ts';
import { matchRoute, parseRequest, readQuery, unknownPath } from '../../serve/route.ts';
import { pageKeySecret } from '../../store/control.ts';
import { openControl, openStore } from '../../store/engines.ts';
import { readSettings } from '../config.ts';
import { examples, storeOption } from '../shared/flags.ts';
import { closing } from '../shared/opened-store.ts';
import { complain, note } from '../shared/output.ts';
import { EXIT_PARTLY } from '../shared/problem.ts';
import { version } from '../shared/version.ts';

/** A service makes it of the rows of an answer, by a process of its own. */
const notParquet = (): Refusal =>
  new Refusal('invalid_parameter', {
    message: 'format=parquet is answered by a service alone: ask here for csv or arrow.',
    param: 'format',
  });

/** A request as it is written in a URL, of which the host does not matter. @throws Refusal */
export function readRequest(written: string, service: ServiceFacts): QueryRequest {
  const target = /^(https?:\/\/|\/)/i.test(written) ? written : `/${written}`;
  const { path, query: sent } = readTarget({ target, headers: {} });
  const match = matchRoute(path);
  if (match === null) throw unknownPath(path);
  const { name: endpoint, known } = match.route;
  const { query, ignored } = readQuery(sent, (name) => known.includes(name));
  const unknown = ignoredHeader(ignored, known);
  if (unknown !== null) note(`ignored parameters: ${unknown}`);
  const parameters = parseRequest(match, query);
  if (parameters.format === 'parquet') throw notParquet();
  return { endpoint, parameters, nowMs: Date.now(), wrapCsv: false, service };
}

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

export function queryCommand(): Command {
  return new Command('query')
    .argument('<path...>', 'path and query of a request, as in its URL; a whole URL is read from its path on')
    .addOption(storeOption())
    .addHelpText(
      ...examples(
        "bourse query '/api/v2/stock/bars/US:AAPL/DAY/latest?limit=5'",
        "bourse query '/api/v2/stock/bars/US:AAPL/60M/from/2025-03-03/to/2025-03-07?format=csv' > bars.csv",
        "bourse query '/api/v2/stock/reference/US:AAPL' | jq .result",
      ),
    )
    .addHelpText(
      'after',
      `\nThe answer has the bytes of the service's. A key in the URL is not read. A refused request is an error and exit status ${EXIT_PARTLY}.\n`,
    )
    .action(async (paths: readonly string[], flags: { readonly store?: string }) => {
      const { store: url, publicUrl, port } = readSettings(flags);
      const service = { baseAddress: publicUrl ?? `http://127.0.0.1:${port}`, version: version() };
      await closing(openStore(url, 'read'), async (store) => {
        const secret = await closing(openControl(url, 'write', note), pageKeySecret);
        const runner = new QueryRunner(store, secret);
        for (const path of paths)
          if (!(await answerOne(runner, path, service))) process.exitCode = EXIT_PARTLY;
      });
    });
}

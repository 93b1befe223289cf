// Whether two answers are equal, apart from what each service makes for itself: keys, page keys, identifiers
// of requests, and the time.
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { tableFromIPC } from 'apache-arrow';
import { textOf } from '../duckdb.ts';

/** An answer as it came. */
export type Answer = {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
};

/** Where two answers, or two reports of a command, differ: a part of each. */
export type Difference = { readonly where: string; readonly here: string; readonly there: string };

/** What is compared of an answer, and the key of its next page. */
export type Plain = { readonly parts: ReadonlyMap<string, string>; readonly pageKey: string | null };

const CACHED = '"reference":"cached"';

/** Headers of the connection and of the moment. */
const uncompared = ['date', 'x-request-id', 'connection', 'keep-alive', 'transfer-encoding'];

const decoders: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: gunzipSync,
  zstd: zstdDecompressSync,
};

/** The bytes of a body as they were before they were compressed; none of an answer without a body. */
const decoded = ({ headers, body }: Answer): Buffer =>
  body.length === 0 ? body : (decoders[headers.get('content-encoding') ?? '']?.(body) ?? body);

/** Fields and rows of an Arrow stream: how it is cut into batches is no part of the answer. */
function textOfArrow(bytes: Buffer): string {
  const table = tableFromIPC(bytes);
  const rows = table.toArray().map((row) => String(row));
  return [table.schema.fields.join(', '), ...rows].join('\n');
}

/** Columns and rows of a Parquet file, read by DuckDB from a file that `keep` writes. */
async function textOfParquet(bytes: Buffer, keep: (bytes: Buffer) => string): Promise<string> {
  const path = keep(bytes);
  const columns = await textOf(
    `select string_agg(column_name || ' ' || column_type, ', ') from (describe from '${path}')`,
  );
  const rows = await textOf(
    `select coalesce(string_agg(line, chr(10)), '') from (select to_json(t)::varchar as line from '${path}' t)`,
  );
  return `${columns}\n${rows}`;
}

/** The bodies of two answers as texts. What is no text is read where its bytes differ. */
async function textsOf(
  answers: readonly [Answer, Answer],
  keep: (bytes: Buffer) => string,
): Promise<string[]> {
  const bodies = answers.map(decoded);
  const isText = answers.some(({ headers }) => !/arrow|parquet/.test(headers.get('content-type') ?? ''));
  if (!isText && bodies[0]!.equals(bodies[1]!)) return ['equal bytes', 'equal bytes'];
  const read = async (bytes: Buffer, at: number): Promise<string> => {
    const type = answers[at]!.headers.get('content-type') ?? '';
    if (bytes.length > 0 && type.includes('arrow')) return textOfArrow(bytes);
    return bytes.length > 0 && type.includes('parquet') ? textOfParquet(bytes, keep) : bytes.toString();
  };
  return Promise.all(bodies.map(read));
}

/** What each store has of its own, by what stands for it. */
export type Secrets = Readonly<Record<string, string>>;

/** What of the answers of two services is compared; `keep` writes bytes to a file and gives its path. */
export async function plainOf(
  answers: readonly [Answer, Answer],
  secrets: readonly [Secrets, Secrets],
  keep: (bytes: Buffer) => string,
): Promise<[Plain, Plain]> {
  const [here, there] = await textsOf(answers, keep);
  return [withoutOwn(answers[0], secrets[0], here!), withoutOwn(answers[1], secrets[1], there!)];
}

/** An answer without what its service makes for itself. */
function withoutOwn(answer: Answer, secrets: Secrets, body: string): Plain {
  const pageKey =
    answer.headers.get('x-next-page-key') ?? /"next_page_key":"([^"]+)"/.exec(body)?.[1] ?? null;
  const without = (text: string): string => {
    const unpaged = pageKey === null ? text : text.replaceAll(pageKey, '<page key>');
    return Object.entries(secrets).reduce((found, [name, secret]) => found.replaceAll(secret, name), unpaged);
  };
  const isPart = (name: string): boolean => {
    // A tag and a length are of all bytes: of a page key too, and as they are compressed.
    if (name === 'etag') return pageKey === null;
    if (name === 'content-length')
      return pageKey === null && !answer.headers.has('content-encoding') && !body.includes(CACHED);
    return !uncompared.includes(name);
  };
  const headers = [...answer.headers]
    .filter(([name]) => isPart(name))
    .map(([name, value]) => [`header ${name}`, without(value)] as const);
  const plainBody = without(body)
    .replace(/"request_id":"[^"]*"/, '"request_id":"…"')
    // Whether a record came from a cache depends on what was asked before.
    .replace(CACHED, '"reference":null');
  return {
    parts: new Map([['status', String(answer.status)], ...headers, ['body', plainBody]]),
    pageKey,
  };
}

/** Characters that are shown before and behind the place where two texts begin to differ. */
const BEFORE = 60;
const BEHIND = 140;

/** Two texts cut to where they differ. */
export function cut(here: string, there: string): { at: number; here: string; there: string } {
  let at = 0;
  while (at < here.length && here[at] === there[at]) at++;
  const from = Math.max(0, at - BEFORE);
  const part = (text: string): string =>
    `${from > 0 ? '…' : ''}${text.slice(from, at + BEHIND)}${text.length > at + BEHIND ? '…' : ''}`;
  return { at, here: part(here), there: part(there) };
}

/** Where the parts of two answers differ. */
export function differencesOf(here: Plain['parts'], there: Plain['parts']): Difference[] {
  const names = [...new Set([...here.keys(), ...there.keys()])];
  return names.flatMap((name) => {
    const [one, other] = [here.get(name), there.get(name)];
    if (one === other) return [];
    if (one === undefined || other === undefined)
      return [{ where: name, here: one ?? '(none)', there: other ?? '(none)' }];
    const { at, ...parts } = cut(one, other);
    return [{ where: at === 0 || name !== 'body' ? name : `${name}, from character ${at}`, ...parts }];
  });
}

/** A difference in words, of what was asked or done. */
export const differenceWords = (title: string, differences: readonly Difference[]): string =>
  [
    title,
    ...differences.map(
      ({ where, here, there }) =>
        `  ${where}\n    here:  ${JSON.stringify(here)}\n    there: ${JSON.stringify(there)}`,
    ),
  ].join('\n');

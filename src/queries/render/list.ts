// The envelope of answers and errors as bytes, and the whole answer of a list: as JSON, as CSV, or as CSV
// inside the envelope, with its count and paging (contract 5, 6.1, 6.2).
import {
  type ErrorEnvelope,
  type ErrorFacts,
  type ErrorWord,
  errors,
  SUCCESS_MESSAGE,
} from '../../contract/errors.ts';
import { limits } from '../../contract/limits.ts';
import { type Allocate, type Answer, allocateFresh, type Paging } from '../query.ts';
import { Sink } from './sink.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** The beginning of a text, cut between characters: half a surrogate pair is no text. */
function cut(text: string): string {
  const { echoCharactersMax: max } = limits;
  const characters = Array.from(text.slice(0, max * 2));
  return characters.slice(0, max).join('').toWellFormed();
}

/** The envelope of an error; without a hint of its own it has the catalogue's. */
export function errorBody(word: ErrorWord, facts: ErrorFacts, requestId: string): ErrorEnvelope {
  const entry: { status: number; hint?: string } = errors[word];
  const hint = facts.hint ?? entry.hint;
  return {
    status: 'error',
    code: entry.status,
    message: facts.message,
    reference: null,
    result: null,
    detail: {
      error: word,
      ...(facts.param === undefined ? {} : { param: facts.param }),
      ...(facts.got === undefined ? {} : { got: cut(facts.got) }),
      ...(facts.allowed === undefined ? {} : { allowed: facts.allowed }),
      ...(hint === undefined ? {} : { hint }),
      request_id: requestId,
    },
  };
}

/** The media type of CSV (contract 5.1). */
export const CSV_TYPE = 'text/csv; charset=utf-8; header=present';

/** What a list is rendered from. */
type ListParts = {
  readonly format: 'json' | 'csv';
  /** Whether CSV goes into the envelope as a string (contract 5.3). */
  readonly wrapCsv: boolean;
  readonly count: number;
  /** Null where the list has no pages. */
  readonly paging: Paging | null;
  readonly allocate: Allocate;
  /** Further lists of the result, behind the records. */
  readonly beside?: Readonly<Record<string, readonly unknown[]>>;
  /** Writes the records as elements of a JSON array. */
  readonly writeJson: (sink: Sink) => void;
  /** Writes header and rows. */
  readonly writeCsv: (sink: Sink) => void;
};

/** Shared: a thread writes one answer at a time. */
const sink = new Sink();

/** Renders a list. */
export function renderList(parts: ListParts): Answer {
  const { format, count, paging, allocate } = parts;
  if (format === 'json') return renderEnvelope(paging, allocate, (to) => writeList(to, parts, null));
  sink.start();
  parts.writeCsv(sink);
  const headers = { 'X-Count': String(count), ...(paging?.next && { 'X-Next-Page-Key': paging.next.key }) };
  if (parts.wrapCsv) {
    const csv = Buffer.from(sink.take(allocateFresh)).toString();
    return renderEnvelope(paging, allocate, (to) => writeList(to, parts, csv), headers);
  }
  const next = paging?.next ? { ...paging.next, at: null } : null;
  return { kind: 'answer', contentType: CSV_TYPE, headers, body: sink.take(allocate), next };
}

/** Writes the result of a list: its records, or its whole CSV as one string. */
function writeList(
  to: Sink,
  { count, paging, beside = {}, writeJson }: ListParts,
  csv: string | null,
): number | null {
  to.text('{');
  const at = paging && writePaging(to, paging);
  to.text(`"count":${count},"data":`);
  if (csv === null) {
    to.text('[');
    writeJson(to);
    to.text(']');
  } else to.text(JSON.stringify(csv));
  for (const [name, list] of Object.entries(beside)) to.text(`,"${name}":${JSON.stringify(list)}`);
  to.text('}');
  return at;
}

const ENVELOPE_TAIL = '}';

/** Everything before `result`'s value. */
function envelopeHead(reference: 'cached' | null): string {
  return `{"status":"ok","code":200,"message":"${SUCCESS_MESSAGE}","reference":${JSON.stringify(reference)},"result":`;
}

/**
 * Renders the envelope; `writeResult` writes `result` and returns the place in the body where the address of
 * the next page belongs.
 */
export function renderEnvelope(
  paging: Paging | null,
  allocate: Allocate,
  writeResult: (to: Sink) => number | null,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  sink.start();
  sink.text(envelopeHead(null));
  const at = writeResult(sink);
  sink.text(ENVELOPE_TAIL);
  const next = paging?.next ? { ...paging.next, at } : null;
  return { kind: 'answer', contentType: JSON_TYPE, headers, body: sink.take(allocate), next };
}

/**
 * Writes the paging fields; returns the place in the body where the request handler puts the address of the
 * next page.
 */
export function writePaging(to: Sink, { next }: Paging): number | null {
  if (next === null) {
    to.text('"next_page_key":null,"next_page_url":null,');
    return null;
  }
  to.text(`"next_page_key":"${next.key}","next_page_url":"`);
  const { at } = to;
  to.text('",');
  return at;
}

/** An answer whose `result` is one value; `reference` says where it came from (spec 2.1). */
export function renderResult(result: unknown, allocate: Allocate, reference: 'cached' | null = null): Answer {
  const text = Buffer.from(`${envelopeHead(reference)}${JSON.stringify(result)}${ENVELOPE_TAIL}`);
  const body = allocate(text.length);
  body.set(text);
  return { kind: 'answer', contentType: JSON_TYPE, headers: {}, body, next: null };
}

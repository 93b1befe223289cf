// A list's whole answer: counted, paged where it is paged, as JSON, as CSV, or as CSV inside the envelope (contract 5, 6.1).
import { type Allocate, type Answer, allocateFresh, type NextPage } from '../query.ts';
import { ENVELOPE_TAIL, envelopeHead, JSON_TYPE } from './envelope.ts';
import { Sink } from './sink.ts';

const CSV_TYPE = 'text/csv; charset=utf-8; header=present';

export type ListParts = {
  readonly format: 'json' | 'csv';
  /** CSV goes into the envelope as a string (contract 5.3). */
  readonly wrapCsv: boolean;
  readonly count: number;
  /** The next page's key and address; a null key on the last page; null where the list is not paged. */
  readonly paging: { readonly key: string | null; readonly address: string } | null;
  readonly allocate: Allocate;
  /** Writes the records as elements of a JSON array. */
  readonly writeJson: (sink: Sink) => void;
  /** Writes header and rows. */
  readonly writeCsv: (sink: Sink) => void;
};

const sink = new Sink();

/** Renders a list. One answer at a time: the sink is shared. */
export function renderList(parts: ListParts): Answer {
  if (parts.format === 'csv' && !parts.wrapCsv) return renderCsv(parts);
  const data = parts.format === 'csv' ? csvText(parts) : null;
  sink.start();
  sink.text(`${envelopeHead(null)}{`);
  const at = parts.paging === null ? null : writePaging(sink, parts.paging.key);
  sink.text(`"count":${parts.count},"data":`);
  if (data === null) {
    sink.text('[');
    parts.writeJson(sink);
    sink.text(']');
  } else sink.text(JSON.stringify(data));
  sink.text(`}${ENVELOPE_TAIL}`);
  const headers = parts.format === 'csv' ? pagingHeaders(parts) : {};
  return {
    kind: 'answer',
    contentType: JSON_TYPE,
    headers,
    body: sink.take(parts.allocate),
    next: nextOf(parts, at),
  };
}

function csvText(parts: ListParts): string {
  sink.start();
  parts.writeCsv(sink);
  return Buffer.from(sink.take(allocateFresh)).toString();
}

function renderCsv(parts: ListParts): Answer {
  sink.start();
  parts.writeCsv(sink);
  return {
    kind: 'answer',
    contentType: CSV_TYPE,
    headers: pagingHeaders(parts),
    body: sink.take(parts.allocate),
    next: nextOf(parts, null),
  };
}

function pagingHeaders({ count, paging }: ListParts): Record<string, string> {
  return { 'X-Count': String(count), ...(paging?.key ? { 'X-Next-Page-Key': paging.key } : {}) };
}

function nextOf({ paging }: ListParts, at: number | null): NextPage | null {
  return paging?.key ? { address: paging.address, key: paging.key, at } : null;
}

/** Writes the paging fields; gives the place where the request handler puts the next page's address. */
export function writePaging(sink: Sink, key: string | null): number | null {
  if (key === null) {
    sink.text('"next_page_key":null,"next_page_url":null,');
    return null;
  }
  sink.text(`"next_page_key":"${key}","next_page_url":"`);
  const at = sink.length;
  sink.text('",');
  return at;
}

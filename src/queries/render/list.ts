// The whole answer of a list: as JSON, as CSV, or as CSV inside the envelope, with its count and paging (contract 5, 6.1).
import { type Allocate, type Answer, allocateFresh, type NextPage, type Paging } from '../query.ts';
import { ENVELOPE_TAIL, envelopeHead, JSON_TYPE } from './envelope.ts';
import { Sink } from './sink.ts';

const CSV_TYPE = 'text/csv; charset=utf-8; header=present';

export type ListParts = {
  readonly format: 'json' | 'csv';
  /** Whether CSV goes into the envelope as a string (contract 5.3). */
  readonly wrapCsv: boolean;
  readonly count: number;
  /** Null where the list has no pages. */
  readonly paging: Paging | null;
  readonly allocate: Allocate;
  /** Writes the records as elements of a JSON array. */
  readonly writeJson: (sink: Sink) => void;
  /** Writes header and rows. */
  readonly writeCsv: (sink: Sink) => void;
};

const sink = new Sink();

/** Renders a list. The sink is shared: one answer at a time. */
export function renderList(parts: ListParts): Answer {
  if (parts.format === 'csv' && !parts.wrapCsv) return renderCsv(parts);
  const data = parts.format === 'csv' ? csvText(parts) : null;
  sink.start();
  sink.text(`${envelopeHead(null)}{`);
  const at = parts.paging === null ? null : writePaging(sink, parts.paging);
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
    next: nextPage(parts.paging, at),
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
    next: nextPage(parts.paging, null),
  };
}

function pagingHeaders({ count, paging }: ListParts): Record<string, string> {
  return { 'X-Count': String(count), ...(paging?.next && { 'X-Next-Page-Key': paging.next.key }) };
}

/** The next page, with the place in the body where its address belongs. */
export const nextPage = (paging: Paging | null, at: number | null): NextPage | null =>
  paging?.next ? { ...paging.next, at } : null;

/** Writes the paging fields; returns the place in the body where the request handler puts the address of the next page. */
export function writePaging(sink: Sink, { next }: Paging): number | null {
  if (next === null) {
    sink.text('"next_page_key":null,"next_page_url":null,');
    return null;
  }
  sink.text(`"next_page_key":"${next.key}","next_page_url":"`);
  const at = sink.length;
  sink.text('",');
  return at;
}

// Option contracts grouped by expiration; a group stands where its first contract is in the list (spec 2.6, contract 8.4).
import { formatInstantZ } from '../../base/instant.ts';
import { optionContractRecord } from '../../contract/options.ts';
import type { Allocate, Answer, Paging } from '../query.ts';
import { ENVELOPE_TAIL, envelopeHead, JSON_TYPE } from './envelope.ts';
import { nextPage, writePaging } from './list.ts';
import { type WireRecord, writeJsonRecords } from './records.ts';
import { Sink } from './sink.ts';

type GroupedParts = {
  readonly contracts: readonly { readonly expiresMs: number; readonly record: WireRecord }[];
  readonly paging: Paging;
  readonly allocate: Allocate;
};

const sink = new Sink();

/** Renders one page of contracts. The sink is shared: one answer at a time. */
export function renderGrouped({ contracts, paging, allocate }: GroupedParts): Answer {
  const groups = Map.groupBy(contracts, ({ expiresMs }) => formatInstantZ(expiresMs));
  sink.start();
  sink.text(`${envelopeHead(null)}{"count":${contracts.length},`);
  const at = writePaging(sink, paging);
  sink.text(`"expiration_datetimes":${JSON.stringify([...groups.keys()])},"data":{`);
  let separator = '';
  for (const [expiration, members] of groups) {
    sink.text(`${separator}"${expiration}":[`);
    writeJsonRecords(
      sink,
      optionContractRecord,
      members.map(({ record }) => record),
    );
    sink.text(']');
    separator = ',';
  }
  sink.text(`}}${ENVELOPE_TAIL}`);
  return {
    kind: 'answer',
    contentType: JSON_TYPE,
    headers: {},
    body: sink.take(allocate),
    next: nextPage(paging, at),
  };
}

// Option contracts grouped by the instant at which they expire, in the order in which the list first reaches each (spec 2.6, contract 8.4).
import { formatInstantZ } from '../../base/instant.ts';
import { optionContractRecord } from '../../contract/options.ts';
import type { Allocate, Answer } from '../query.ts';
import { ENVELOPE_TAIL, envelopeHead, JSON_TYPE } from './envelope.ts';
import { writePaging } from './list.ts';
import { type WireRecord, writeJsonRecords } from './records.ts';
import { Sink } from './sink.ts';

type GroupedParts = {
  readonly contracts: readonly { readonly expiresMs: number; readonly record: WireRecord }[];
  readonly paging: { readonly key: string | null; readonly address: string };
  readonly allocate: Allocate;
};

const sink = new Sink();

/** Renders one page of contracts. One answer at a time: the sink is shared. */
export function renderGrouped({ contracts, paging, allocate }: GroupedParts): Answer {
  const groups = Map.groupBy(contracts, ({ expiresMs }) => formatInstantZ(expiresMs));
  sink.start();
  sink.text(`${envelopeHead(null)}{"count":${contracts.length},`);
  const at = writePaging(sink, paging.key);
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
  const { key, address } = paging;
  const next = key === null || at === null ? null : { address, key, at };
  return { kind: 'answer', contentType: JSON_TYPE, headers: {}, body: sink.take(allocate), next };
}

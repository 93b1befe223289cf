// Option contracts grouped by expiration, the groups in the order of their first contracts (spec 2.6,
// contract 8.4).
import { formatInstantZ } from '../../base/instant.ts';
import { optionContractRecord } from '../../contract/options.ts';
import type { GroupedContract } from '../option-contract.ts';
import type { Allocate, Answer, Paging } from '../query.ts';
import { renderEnvelope, writePaging } from './list.ts';
import { writeJsonRecords } from './records.ts';

/** Renders one page of contracts. */
export function renderGrouped(
  contracts: readonly GroupedContract[],
  paging: Paging,
  allocate: Allocate,
): Answer {
  const groups = Map.groupBy(contracts, ({ expiresMs }) => formatInstantZ(expiresMs));
  return renderEnvelope(paging, allocate, (to) => {
    to.text(`{"count":${contracts.length},`);
    const at = writePaging(to, paging);
    to.text(`"expiration_datetimes":${JSON.stringify([...groups.keys()])},"data":{`);
    let separator = '';
    for (const [expiration, members] of groups) {
      const records = members.map(({ record }) => record);
      to.text(`${separator}"${expiration}":[`);
      writeJsonRecords(to, optionContractRecord, records);
      to.text(']');
      separator = ',';
    }
    to.text('}}');
    return at;
  });
}

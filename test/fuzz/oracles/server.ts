// The service about itself (contract 9.12, 9.14).
import assert from 'node:assert/strict';
import { fillings } from '../store.ts';
import { isDescending, type Oracle } from './common.ts';

/** `GET …/server/runs`: an import of each dataset, in the order in which the store was filled. */
export const runs: Oracle = (texts) => {
  const list = fillings.map(([dataset], index) => ({
    fields: { run: index + 1, kind: 'import', dataset, undone: false },
    place: String(index + 1).padStart(3, '0'),
  }));
  return { faults: [], list: isDescending(texts) ? list.toReversed() : list };
};

/** `GET …/server/address_info` */
export const addressInfo: Oracle = () => ({
  faults: [],
  check({ groups: [records] }) {
    const [{ base_address, version } = {}, ...others] = records!;
    assert.match(String(base_address), /^http:\/\/[^/]+$/);
    assert.match(String(version), /^\d+\.\d+\.\d+/);
    assert.deepEqual(others, []);
  },
});

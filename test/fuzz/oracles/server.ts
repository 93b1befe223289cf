// The service itself (contract 9.14).
import assert from 'node:assert/strict';
import type { Oracle } from './common.ts';

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

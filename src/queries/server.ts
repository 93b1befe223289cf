// What a service tells of itself (contract 9.14).
import type { addressInfo } from '../contract/server.ts';
import type { Query } from './query.ts';
import { renderResult } from './render/result.ts';

/** `GET …/server/address_info`: nothing of it is stored, so it is not cached. */
export const answerAddressInfo: Query<typeof addressInfo> = async (_, { request, allocate }) => {
  const { baseAddress, version } = request.service!;
  return renderResult({ base_address: baseAddress, version }, allocate);
};

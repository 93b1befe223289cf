// What a service tells of itself (contract 9.14).
import { endpoint } from './endpoint.ts';
import { record, text } from './fields.ts';

/** A service on the wire. */
export const addressRecord = record('AddressInfo', {
  base_address: [text('The address that every path is appended to'), 'https://data.example.com/bourse'],
  version: [text('The version of the program'), '1.0.0'],
});

export const addressInfo = endpoint({
  path: '/api/v2/server/address_info',
  tag: 'server',
  summary: 'The base address and the version of the service',
  parameters: {},
  record: addressRecord,
  shape: 'single',
  extension: true,
});

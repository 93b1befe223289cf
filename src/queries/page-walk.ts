// A walk over the pages of a list: opens the key that was sent and signs the next one (contract 4.1, 4.3).
import type { ParametersOf } from '../contract/endpoint.ts';
import { type Contract, contract, type Endpoint } from '../contract/index.ts';
import { fingerprints, type PagedEndpoint, type Understood } from './page-fingerprint.ts';
import type { Place } from './page-key.ts';
import type { Paging, QueryContext } from './query.ts';
import { pageAddress } from './render/page-address.ts';

const fingerprintOf = new Map(
  Object.entries<Endpoint>(contract).map(([name, { parameters }]) => [name, fingerprints(name, parameters)]),
);

type Walk<P> = {
  /** Where the page before ends; null on the first page. */
  readonly place: Place | null;
  /**
   * The paging of a page that ends at a place; null where it is the last one. `sent` fills the address of the
   * next page.
   */
  readonly paging: (end: Place | null, sent?: P) => Paging;
};

/** Opens a walk where its page key says. @throws Refusal `invalid_page_key` */
export function openWalk<N extends PagedEndpoint>(
  { pageKeys, moment }: QueryContext,
  endpoint: N,
  parameters: ParametersOf<Contract[N]> & { readonly next_page_key?: string | undefined },
  understood: Understood<N>,
): Walk<ParametersOf<Contract[N]>> {
  const fingerprint = fingerprintOf.get(endpoint)!(parameters, understood);
  const { next_page_key: key } = parameters;
  return {
    place: key ? pageKeys.verify(fingerprint, key) : null,
    paging: (end, sent = parameters) => ({
      next: end && {
        key: pageKeys.sign(fingerprint, end, moment.ms),
        address: pageAddress(contract[endpoint], sent),
      },
    }),
  };
}

// The TypeScript client's copy of the contract, against the contract.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type * as Client from '../packages/client/contract.ts';
import type { Endpoints } from '../packages/client/contract.ts';
import type { Bourse } from '../packages/client/index.ts';
import type {
  AssetSchema,
  DataEndpoints,
  ErrorWord,
  IntervalCode,
  RecordOf,
  SentOf,
} from '../src/contract/index.ts';
import { clientContract, contractText } from './client-contract.ts';

test("the client's file is what `npm run client` writes of the contract", () => {
  assert.equal(readFileSync(clientContract, 'utf8'), contractText());
});

type Same<A, B> = [A, B] extends [B, A] ? true : false;
type Name = keyof DataEndpoints;
type Parameters<N extends Name> = DataEndpoints[N]['parameters'];
type Options<N extends Name> = Endpoints[N]['needs'] & Endpoints[N]['takes'];
type Wire<K> = K extends 'from' ? 'from_date' : K extends 'to' ? 'to_date' : K;

/** True where a record is that of the contract. */
type IsRecord<N extends Name> = Same<Endpoints[N]['record'], RecordOf<DataEndpoints[N]>>;

/** True where an option takes what the contract's parameter does. */
type IsOption<N extends Name, K extends keyof Options<N>> =
  Wire<K> extends keyof Parameters<N> ? Same<Options<N>[K], SentOf<Parameters<N>[Wire<K>]>> : false;

/** The method of each endpoint. */
type Methods = {
  historicalBars: Bourse['bars'];
  latestBars: Bourse['latest'];
  latestOfMany: Bourse['latestOfMany'];
  bulkBars: Bourse['bulk'];
  instrumentReference: Bourse['reference'];
  instrumentSearch: Bourse['search'];
  corporateActions: Bourse['actions'];
  newsList: Bourse['news'];
  latestNews: Bourse['latestNews'];
  optionSearch: Bourse['options'];
  optionExpirations: Bourse['expirations'];
  holidayList: Bourse['holidays'];
  holidayCodes: Bourse['holidayCodes'];
  economicEvents: Bourse['events'];
  latestEconomicEvents: Bourse['latestEvents'];
  economicEvent: Bourse['event'];
  economicEventCodes: Bourse['eventCodes'];
  seriesCoverage: Bourse['coverage'];
  sessionCoverage: Bourse['sessions'];
  findings: Bourse['findings'];
  runs: Bourse['runs'];
  addressInfo: Bourse['addressInfo'];
};

/** The options of a method: its last argument. */
type LastOf<F> = F extends (...given: infer Given) => unknown
  ? Required<Given> extends [...unknown[], infer Last]
    ? Last
    : never
  : never;

/** True where the method of an endpoint takes each of its optional parameters, as the endpoint does. */
type IsWhole<N extends Name> =
  Pick<LastOf<Methods[N]>, keyof Endpoints[N]['takes'] & keyof LastOf<Methods[N]>> extends infer Taken
    ? Same<Taken, { readonly [K in keyof Endpoints[N]['takes']]?: Endpoints[N]['takes'][K] | undefined }>
    : never;

/** Compiles for `true` alone. */
const holds = <T extends true>(...all: T[]): void => void all;

test('the client has a method for each endpoint, which takes every parameter of it', () => {
  holds<Same<keyof Methods, Name>>();
  holds<Same<Methods[Name], Bourse[keyof Bourse]>>();
  holds<{ [N in Name]: IsWhole<N> }[Name]>();
});

test('its types are those that the compiler infers from the declarations', () => {
  holds<{ [N in Name]: IsRecord<N> }[Name]>();
  holds<{ [N in Name]: { [K in keyof Options<N>]: IsOption<N, K> }[keyof Options<N>] }[Name]>();
  holds<
    Same<AssetSchema | IntervalCode | ErrorWord, Client.AssetSchema | Client.IntervalCode | Client.ErrorWord>
  >();
});

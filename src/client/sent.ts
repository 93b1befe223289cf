// What a program gives and gets, derived from the contract: types alone.
import type { AllEndpoints, Contract, EndpointName, RecordOf, SentOf } from '../contract/index.ts';
import type { Call } from './service.ts';

/** Every endpoint, those whose answers are streamed too. */
export type AnyName = keyof AllEndpoints;

type Parameters<N extends AnyName> = AllEndpoints[N]['parameters'];

/** What the client sends by itself, so that its answers are JSON and pages follow each other. */
type Own = 'format' | 'csv_safe' | 'next_page_key';

/** The parameters of an endpoint that a program may give: one name each, so no aliases. */
type Given<N extends AnyName> = {
  [K in keyof Parameters<N>]: Parameters<N>[K] extends { aliasFor: unknown } ? never : K;
}[keyof Parameters<N>];

/** The options of a method: a range is `from` and `to`; the other names are those of the wire. */
type OptionName<K> = K extends 'from_date' ? 'from' : K extends 'to_date' ? 'to' : K;

type IsRequired<P> = P extends { readonly required: true } ? true : false;

/**
 * The options of an endpoint's method: its parameters but those in `Named`, which are arguments; a signal; a
 * timeout.
 */
export type OptionsOf<N extends AnyName, Named extends keyof Parameters<N> = never> = {
  readonly [K in Exclude<Given<N>, Own | Named> as IsRequired<Parameters<N>[K]> extends true
    ? OptionName<K>
    : never]: SentOf<Parameters<N>[K]>;
} & {
  readonly [K in Exclude<Given<N>, Own | Named> as IsRequired<Parameters<N>[K]> extends true
    ? never
    : OptionName<K>]?: SentOf<Parameters<N>[K]> | undefined;
} & Call;

/** One parameter of an endpoint as a program gives it. */
export type Argument<N extends AnyName, K extends keyof Parameters<N>> = SentOf<Parameters<N>[K]>;

/** The path parameters that name one instrument. */
export type Instrument = 'schema_asset' | 'country_symbol';

/** One record of an endpoint, as it is on the wire. */
export type Row<N extends EndpointName> = RecordOf<Contract[N]>;

/** The endpoints whose `result` has one of these shapes. */
export type Shaped<S extends string> = {
  [N in EndpointName]: Contract[N]['shape'] extends S ? N : never;
}[EndpointName];

/** The options of bars in bulk: their format must be said. */
export type BulkOptions = OptionsOf<'bulkBars', 'schema_asset' | 'country_iso_code' | 'interval'> & {
  readonly format: Argument<'bulkBars', 'format'>;
};

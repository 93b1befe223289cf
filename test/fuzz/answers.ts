// Which answers to a request are right, by the specification and the contract alone.
import { contract, type EndpointName } from '../../src/contract/index.ts';
import { intervalOf, judgeRange, storedNames } from './grammar.ts';

/** Decoded texts of parameters by name. */
export type Texts = Readonly<Record<string, string>>;

/** A page key that the service gave, and what was asked for. */
export type GivenPageKey = { readonly endpoint: EndpointName; readonly texts: Texts; readonly key: string };

/** What the generator knows of the service. */
export type Known = {
  readonly liveKey: string;
  /** Keys that were revoked or never issued. */
  readonly deadKeys: readonly string[];
  readonly pageKeys: readonly GivenPageKey[];
  /** The endpoints that have a path. */
  readonly routed: readonly EndpointName[];
};

/** What has been chosen of a request so far. */
export type Draft = {
  readonly name: EndpointName;
  /** The caller's key. */
  readonly secret: string;
  path: string;
  readonly pairs: string[];
  readonly texts: Record<string, string>;
  /** Answers of which one must come. */
  readonly faults: Set<string>;
  /** Answers that may come as well as none. */
  readonly open: Set<string>;
};

/** The rest of what decides, beside the parameters. */
export type Sent = {
  readonly target: string;
  readonly method: string;
  /** Whether no endpoint has the path. */
  readonly isLost: boolean;
  /** The answer that the caller's key calls for; null where it is good. */
  readonly key: string | null;
};

/** Characters of an address that are still taken (contract 6.3: 8 kB). */
const TARGET_CHARACTERS_MAX = 8_192;

/** The query that a page key is bound to (contract 4.1), in one spelling; dates count as they were written. */
function queryOf(name: EndpointName, texts: Texts): string {
  return JSON.stringify([
    name,
    texts.schema_asset?.toLowerCase(),
    texts.country_symbol?.toUpperCase().replace(/^GB:/, 'UK:'),
    intervalOf(texts.interval ?? ''),
    texts.from_date,
    texts.to_date,
    ['true', '1', 'yes'].includes((texts.is_eth ?? 'false').toLowerCase()),
    (texts.sort ?? 'asc').toLowerCase(),
    (texts.adjust ?? 'none').toLowerCase(),
  ]);
}

const rangeFaults = ['invalid_parameter from_date', 'invalid_parameter to_date'];

/** Whatever the data of endpoints that are not built yet may call for. */
const laterAnswers = [
  ...[
    'ok',
    'no_data',
    'no_data ref_asset_price',
    'unknown_instrument country_symbol',
    'unknown_instrument full_symbol',
  ],
  ...[...rangeFaults, 'invalid_page_key next_page_key'],
];

/** What only the data can refuse. */
function dataAnswers({ name, texts }: Draft, known: Known): readonly string[] {
  const { country_symbol: symbol, from_date: from, to_date: to, next_page_key: pageKey } = texts;
  if (!contract[name].path.includes('/bars/')) return laterAnswers;
  const faults: string[] = [];
  const isStored = storedNames.some(
    (stored) => stored.toUpperCase() === `${texts.schema_asset}:${symbol}`.toUpperCase(),
  );
  if (!isStored) faults.push('unknown_instrument country_symbol');
  const order = from !== undefined && to !== undefined ? judgeRange(from, to) : 'right';
  if (order !== 'right') faults.push(...rangeFaults);
  const isGiven =
    !pageKey ||
    known.pageKeys.some(
      (one) => one.key === pageKey && queryOf(one.endpoint, one.texts) === queryOf(name, texts),
    );
  if (!isGiven) faults.push('invalid_page_key next_page_key');
  const mayBeGood = isStored && order !== 'wrong' && isGiven;
  return mayBeGood ? ['ok', ...faults] : faults;
}

/** The right answers in the order of contract 6.4: path and method, key, parameters, data. */
export function rightAnswers(draft: Draft, known: Known, sent: Sent): string[] {
  if (sent.target.length > TARGET_CHARACTERS_MAX) return ['uri_too_long'];
  if (sent.isLost || !known.routed.includes(draft.name)) return ['unknown_path'];
  if (sent.method === 'OPTIONS') return ['no content'];
  if (sent.method !== 'GET' && sent.method !== 'HEAD') return ['method_not_allowed'];
  if (sent.key !== null) return [sent.key];
  if (draft.faults.size > 0) return [...draft.faults, ...draft.open];
  return [...draft.open, ...dataAnswers(draft, known)];
}

// Which answers to a request are right, by the specification and the contract alone.
import type { Endpoint } from '../../src/contract/endpoint.ts';
import { type DataEndpoints, dataEndpoints } from '../../src/contract/index.ts';
import { type Good, judgeList } from './expect.ts';
import { countryOf, dayOf, instantOf, intervalOf, isFlag, lowerAscii, type Verdict } from './grammar.ts';
import { oracles } from './oracles/index.ts';

/** An endpoint, one whose answers are streamed too. */
export type AnyName = keyof DataEndpoints;

/** Decoded texts of parameters by name. */
export type Texts = Readonly<Record<string, string>>;

/** A page key that the service gave, and what was asked for. */
export type GivenPageKey = {
  readonly endpoint: AnyName;
  readonly texts: Texts;
  readonly key: string;
  /** Records of the pages before. */
  readonly skip: number;
};

/** Holds a good answer to the data. @throws where it is another */
export type GoodCheck = (good: Good) => void;

/** What the generator knows of the service. */
export type Known = {
  readonly liveKey: string;
  /** Keys that were revoked or never issued. */
  readonly deadKeys: readonly string[];
  readonly pageKeys: readonly GivenPageKey[];
};

/** What has been chosen of a request so far. */
export type Draft = {
  readonly name: AnyName;
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
const TARGET_CHARACTERS_MAX = 24_576;

/** How texts that mean the same are written in one way; others count as they are. */
const spellings: readonly (readonly [names: readonly string[], spell: (text: string) => string | null])[] = [
  [['schema_asset', 'sort', 'action_type', 'option_type', 'moneyness', 'impact', 'adjust'], lowerAscii],
  [['kind', 'severity'], lowerAscii],
  [['country_symbol'], (text) => text.toUpperCase().replace(/^GB:/, 'UK:')],
  [['full_symbol'], (text) => text.toUpperCase().replace(':GB:', ':UK:')],
  [['country_iso_code'], countryOf],
  [['holiday_code', 'event_code'], (text) => text.toUpperCase()],
  [['interval'], intervalOf],
  [['strike_price', 'ref_asset_price'], (text) => String(Number(text))],
];
const spellingOf = new Map(
  spellings.flatMap(([names, spell]) => names.map((name) => [name, spell] as const)),
);

const spellFlag = (text: string): string => String(['true', '1', 'yes'].includes(lowerAscii(text)));
const dates = ['from_date', 'to_date', 'expiration_date'];

/**
 * The query that a page key is bound to (contract 4.1), in one spelling; `meaning` takes dates by what they
 * say, not as written.
 */
function queryOf(name: AnyName, texts: Texts, by: 'text' | 'meaning'): string {
  const parameters = Object.entries((dataEndpoints[name] as Endpoint).parameters);
  const isUnadjusted = lowerAscii(texts.adjust ?? 'none') === 'none';
  const spelled = parameters.map(([parameter, kind]) => {
    const text = texts[parameter] ?? (kind.default === undefined ? undefined : kind.print(kind.default));
    if (text === undefined) return null;
    // The day is in the key itself: without adjust it says nothing; with it, today is a day too.
    const isBound = parameter === 'adjust_as_of' ? by === 'text' && !isUnadjusted : kind.bindsPage;
    if (!isBound) return null;
    if (by === 'meaning' && dates.includes(parameter)) return instantOf(dayOf(text));
    if (by === 'meaning' && parameter === 'sort_by') return '';
    if (by === 'meaning' && lowerAscii(text) === 'all') return null;
    return (isFlag(kind) ? spellFlag(text) : spellingOf.get(parameter)?.(text)) ?? text;
  });
  return JSON.stringify([name, spelled]);
}

/**
 * What a page key calls for: the pages before it where it is right; `open` where the query is another in its
 * words alone.
 */
function judgePageKey({ name, texts }: Draft, known: Known): { verdict: Verdict; skip: number } {
  const { next_page_key: pageKey } = texts;
  if (!pageKey) return { verdict: 'right', skip: 0 };
  const given = known.pageKeys.filter(({ endpoint, key }) => endpoint === name && key === pageKey);
  const isOwn = (by: 'text' | 'meaning') => (one: GivenPageKey) =>
    queryOf(name, one.texts, by) === queryOf(name, texts, by);
  const own = given.find(isOwn('text'));
  if (own !== undefined) return { verdict: 'right', skip: own.skip };
  return { verdict: given.some(isOwn('meaning')) ? 'open' : 'wrong', skip: 0 };
}

/** What only texts together and the data can refuse, and what the data says of a good answer. */
type DataJudgement = {
  readonly mayBeGood: boolean;
  /** Refusals of texts that do not go together: where there are any, one of them must come. */
  readonly mistakes: readonly string[];
  /** Refusals by the data. */
  readonly faults: readonly string[];
  readonly check: GoodCheck;
};

function judgeData(draft: Draft, known: Known): DataJudgement {
  const { name, texts } = draft;
  const expectation = oracles[name](texts);
  const { mistakes = [], faults } = expectation;
  const { verdict, skip } = judgePageKey(draft, known);
  // Whose key it is can be told before the data or with it: the key is bound to the instrument that the data
  // finds.
  const keyFaults = verdict === 'right' ? [] : ['invalid_page_key next_page_key'];
  const isSound = mistakes.length === 0 && (expectation.mayBeGood === true || faults.length === 0);
  const { limit } = (dataEndpoints[name] as Endpoint).parameters;
  const count = limit === undefined ? Number.POSITIVE_INFINITY : Number(texts.limit ?? limit.default);
  return {
    mayBeGood: verdict !== 'wrong' && isSound,
    mistakes: mistakes.length === 0 ? [] : [...mistakes, ...keyFaults],
    faults: [...faults, ...keyFaults],
    check(good) {
      if (verdict === 'open') return;
      const { list, start = 0, check } = expectation;
      const isSingle = (dataEndpoints[name] as Endpoint).shape === 'single';
      if (list !== undefined) judgeList(list, start + skip, isSingle ? 1 : count, good);
      check?.(good);
    },
  };
}

/** The texts whose parameters are not among those that faults name; null where one of them is required. */
function textsWithout(faults: readonly string[], { name, texts }: Draft): Texts | null {
  const { parameters } = dataEndpoints[name] as Endpoint;
  const named = new Set(faults.map((fault) => fault.split(' ')[1]));
  const isWhole = Object.entries(parameters).every(([one, { required }]) => !required || !named.has(one));
  return isWhole ? Object.fromEntries(Object.entries(texts).filter(([one]) => !named.has(one))) : null;
}

/**
 * Refusals that the other texts of a draft call for together: which of several mistakes is named is not said.
 */
function otherMistakes(draft: Draft): readonly string[] {
  const rest = textsWithout([...draft.faults, ...draft.open], draft);
  return rest === null ? [] : (oracles[draft.name](rest).mistakes ?? []);
}

/** The right answers in the order of contract 6.4: path and method, key, parameters, data. */
function rightWithoutData(draft: Draft, sent: Sent): string[] | null {
  if (sent.target.length > TARGET_CHARACTERS_MAX) return ['uri_too_long'];
  if (sent.isLost) return ['unknown_path'];
  if (sent.method === 'OPTIONS') return ['no content'];
  if (sent.method !== 'GET' && sent.method !== 'HEAD') return ['method_not_allowed'];
  if (sent.key !== null) return [sent.key];
  if (draft.faults.size > 0) return [...draft.faults, ...draft.open, ...otherMistakes(draft)];
  return null;
}

/** Of a text of which it is not said whether it is right it is not said what it means, either. */
function openAnswers(draft: Draft, known: Known): string[] {
  const { parameters, shape } = dataEndpoints[draft.name] as Endpoint;
  const sure = Object.entries(draft.texts).filter(
    ([name]) => parameters[name]?.required === true || !draft.open.has(`invalid_parameter ${name}`),
  );
  const { mayBeGood, mistakes, faults } = judgeData({ ...draft, texts: Object.fromEntries(sure) }, known);
  const refused = [...mistakes, ...faults];
  // Where the others are right too, they are refused for what they mean.
  const meant = judgeData(draft, known);
  // A refusal for want of a text that was sent may not come, either.
  const isOpen = refused.every((fault) => draft.open.has(`invalid_parameter ${fault.split(' ')[1]}`));
  return [
    ...[
      ...draft.open,
      ...refused,
      ...meant.mistakes,
      ...meant.faults,
      ...(mayBeGood || isOpen ? ['ok'] : []),
    ],
    ...(shape === 'single' ? ['ok', 'no_data'] : []),
    ...(draft.texts.next_page_key ? ['ok', 'invalid_page_key next_page_key'] : []),
  ];
}

const unchecked: GoodCheck = () => undefined;

/** The right answers, and what a good one must hold. */
export function judgeDraft(
  draft: Draft,
  known: Known,
  sent: Sent,
): { readonly right: readonly string[]; readonly check: GoodCheck } {
  const right = rightWithoutData(draft, sent);
  if (right !== null) return { right, check: unchecked };
  if (draft.open.size > 0) return { right: openAnswers(draft, known), check: unchecked };
  const { mayBeGood, mistakes, faults, check } = judgeData(draft, known);
  const refused = mistakes.length > 0 ? mistakes : faults;
  return { right: mayBeGood ? ['ok', ...refused] : refused, check };
}

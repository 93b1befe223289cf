// What each parameter takes, written from the specification and the contract alone: the oracle of the fuzzer.
import type { Endpoint, Parameter } from '../../src/contract/endpoint.ts';
import type { Texts } from './answers.ts';
import { barNames, names, sourceIdOf } from './data.ts';
import type { Random } from './random.ts';

/** Whether a text is right; `open` where the contract does not say. */
export type Verdict = 'right' | 'wrong' | 'open';

/** One parameter's texts. */
export type Grammar = {
  /** Some text that is right. */
  readonly make: (random: Random) => string;
  readonly judge: (text: string, place: 'path' | 'query') => Verdict;
  /** The words of contract 6.3 for a text that is wrong. */
  readonly words?: readonly string[];
};

const verdict = (isRight: boolean): Verdict => (isRight ? 'right' : 'wrong');
/** Lower case of A-Z alone. */
export const lowerAscii = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

function words(...list: readonly string[]): Grammar {
  return {
    make: (random) => random.anyCase(random.pick(list)),
    judge: (text) => verdict(list.includes(lowerAscii(text))),
  };
}

const assetTypes = ['stock', 'future', 'crypto', 'forex', 'option'];
const countries = ['US', 'UK', 'GB', 'EU', 'DE', 'FR', 'JP', 'AU', 'CA', 'CH', 'HK', 'CN', 'ZZ', 'GLOBAL'];
const SYMBOL_CHARACTERS = 'ABCXYZ019.-_/^=&+$#!@~';
const COUNTRY = /^([A-Za-z]{2}|[Gg][Ll][Oo][Bb][Aa][Ll])$/;
const SYMBOL = /^[A-Za-z0-9.\-_/^=&+$#!@~]{1,40}$/;

/** A name that the store holds, most often one that has bars. */
export function storedName(random: Random): string {
  const name = random.pick<string>(random.chance(0.6) ? barNames : names);
  // Contract 1.2 takes the one for the other.
  return random.chance(0.5) ? name.replace(':UK:', ':GB:') : name;
}

function makeSymbol(random: Random): string {
  if (random.chance(0.5)) return storedName(random).split(':')[2]!;
  return Array.from({ length: random.between(1, 40) }, () => random.pick(Array.from(SYMBOL_CHARACTERS))).join(
    '',
  );
}

const makeCountry = (random: Random): string => random.anyCase(random.pick(countries));

/** A name with Massive's prefixes in our words (contract 1.7). */
const withoutPrefix = (text: string): string =>
  text.replace(/^(us:)?o:(?=[a-z0-9.]+\d{6}[cp]\d{8}$)/i, 'US:').replace(/^[xc]:/i, 'GLOBAL:');

/**
 * Words with a space between each stand for a symbol with separators: whether one instrument fits decides
 * (contract 9.21).
 */
function symbolVerdict(text: string): Verdict {
  if (SYMBOL.test(text)) return 'right';
  return /^[a-z0-9]+( [a-z0-9]+){1,2}$/i.test(text) && text.length <= 40 ? 'open' : 'wrong';
}

const stored = new Set(names.map((name) => name.toUpperCase().replace(/^\w+:/, '')));
/** A name of a market without the signs of its symbol. */
const withoutSigns = (name: string): string => name.replace(/[^A-Z0-9:]/g, '');
const storedWithoutSigns = new Set(Array.from(stored, withoutSigns));

/** A name that differs from a stored one in its signs alone: whether one instrument fits decides (9.21). */
function isAlike(text: string): boolean {
  const name = text.toUpperCase().replace(/^GB:/, 'UK:');
  return !stored.has(name) && storedWithoutSigns.has(withoutSigns(name));
}

/** Contract 1.3: the first colon parts country from symbol. */
function nameVerdict(text: string): Verdict {
  const name = withoutPrefix(text);
  const [country, ...symbol] = name.split(':');
  if (!COUNTRY.test(country!)) return 'wrong';
  const found = symbolVerdict(symbol.join(':'));
  return found === 'right' && isAlike(name) ? 'open' : found;
}

const countrySymbol: Grammar = {
  make: (random) =>
    random.anyCase(
      random.chance(0.8)
        ? storedName(random).replace(/^\w+:/, '')
        : `${makeCountry(random)}:${makeSymbol(random)}`,
    ),
  judge: nameVerdict,
};

const fullSymbol: Grammar = {
  make: (random) =>
    random.chance(0.3)
      ? random.anyCase(
          random.chance(0.5) ? 'stock:ZZ:*' : `${random.pick(assetTypes)}:${random.pick(countries)}:*`,
        )
      : random.chance(0.1)
        ? `stock:US:${makeSymbol(random)}`
        : random.anyCase(storedName(random)),
  judge: (text) => {
    const [type, ...rest] = text.split(':');
    const isMarket = rest.length === 2 && rest[1] === '*' && COUNTRY.test(rest[0]!);
    const isPrefixed = rest.length === 2 && rest[1] === '*' && /^[xc]$/i.test(rest[0]!);
    if (!assetTypes.includes(lowerAscii(type!))) return 'wrong';
    return isMarket || isPrefixed ? 'right' : nameVerdict(rest.join(':'));
  },
};

const namedMinutes = [1, 3, 5, 10, 15, 30, 60, 120, 240];
const intervalAliases: Readonly<Record<string, string>> = {
  ...{ '1h': '60M', '2h': '120M', '4h': '240M', '1d': 'DAY', day: 'DAY', '1w': 'WEEK', week: 'WEEK' },
  ...{ '1mo': 'MON', month: 'MON', mon: 'MON' },
};

/** The interval that a text means (contract 3.1), or null. */
export function intervalOf(text: string): string | null {
  const lower = lowerAscii(text);
  if (Object.hasOwn(intervalAliases, lower)) return intervalAliases[lower]!;
  const minutes = /^([1-9]\d*)m(?:in)?$/.exec(lower)?.[1];
  return minutes !== undefined && minutes.length < 5 && Number(minutes) <= 1440 ? `${minutes}M` : null;
}

const interval: Grammar = {
  make: (random) =>
    random.chance(0.2)
      ? `${random.between(1, 1440)}${random.pick(['M', 'min'])}`
      : random.anyCase(
          random.pick([...Object.keys(intervalAliases), ...namedMinutes.map((minutes) => `${minutes}M`)]),
        ),
  judge: (text) => verdict(intervalOf(text) !== null),
  words: ['unknown_interval'],
};

const DATE = /^(\d{4})-(\d\d)-(\d\d)/;
const CLOCK =
  /^(?:[Tt]([01]\d|2[0-3]):[0-5]\d| (?:[01]\d|2[0-3]):[0-5]\d(?=:))(?::[0-5]\d(?:\.(\d+))?)?([Zz]|[+-]([01]\d|2[0-3]):?[0-5]\d)?$/;
const SPACE_FOR_PLUS = /^([Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?) (\d\d:?\d\d)$/;

function isRealDay(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(2000, month - 1, day));
  date.setUTCFullYear(year, month - 1, day);
  return year >= 1900 && year <= 2200 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/** Contract 2.1 and 2.4. */
function judgeDateTime(text: string, place: 'path' | 'query'): Verdict {
  const date = DATE.exec(text);
  if (date === null || !isRealDay(Number(date[1]), Number(date[2]), Number(date[3]))) return 'wrong';
  const rest = text.slice(10);
  if (rest === '') return 'right';
  // A raw plus of a query arrives as a space, of a path as itself; a space sent in a path is nobody's form.
  const repaired = rest.replace(SPACE_FOR_PLUS, '$1+$2');
  const clock = CLOCK.exec(repaired);
  if (clock === null) return 'wrong';
  if (repaired !== rest && place === 'path') return 'open';
  return (clock[2]?.length ?? 0) > 9 ? 'open' : 'right';
}

const two = (number: number): string => String(number).padStart(2, '0');

function makeDate(random: Random): string {
  if (random.chance(0.1))
    return random.pick(['1999-12-31', '2025-03-21', '2025-04-18', '2099-12-18', '2150-03-01']);
  if (random.chance(0.8)) return `2025-03-${two(random.between(1, 9))}`;
  if (random.chance(0.2)) return random.pick(['1900-01-01', '2200-12-31', '2024-02-29', '2000-02-29']);
  return `${random.between(1900, 2200)}-${two(random.between(1, 12))}-${two(random.between(1, 28))}`;
}

function makeDateTime(random: Random): string {
  const date = makeDate(random);
  if (random.chance(0.5)) return date;
  const time = [random.between(0, 23), random.between(0, 59), random.between(0, 59)].map(two).join(':');
  const clock = random.chance(0.3) ? '00:00:00' : time;
  const fraction = random.chance(0.2) ? `.${random.below(1_000_000)}` : '';
  const offset = random.pick(['', '', 'Z', 'z', '+00:00', '+0000', '-05:00', '+0930', '+14:00', '-2359']);
  if (random.chance(0.1)) return `${date}${random.pick(['T', 't'])}${clock.slice(0, 5)}${offset}`;
  return `${date}${random.pick(['T', 't', ' '])}${clock}${fraction}${offset}`;
}

const dateTime: Grammar = { make: makeDateTime, judge: judgeDateTime };

/** Contract 2.2 takes the date of a date-time as written. */
const date = dateTime;

/** Contract 4.4; zeros before the number are plain decimal and no canonical form, so they are left open. */
const limitUpTo = (max: number): Grammar => ({
  make: (random) => String(random.pick([1, 2, 5, max, random.between(1, max)])),
  judge: (text) => {
    if (!/^\d+$/.test(text)) return 'wrong';
    const isInBounds = text.length < 9 && Number(text) >= 1 && Number(text) <= max;
    return isInBounds && text.startsWith('0') ? 'open' : verdict(isInBounds);
  },
});

const flag = words('true', 'false', '1', '0', 'yes', 'no');

/** A text of a form; whether others are texts too is not said. */
const formed = (form: RegExp, examples: readonly string[]): Grammar => ({
  make: (random) => random.pick(examples),
  judge: (text) => (form.test(text) ? 'right' : 'open'),
});

const SORT_TERM =
  /^(strike_price|expiration_date|expiration_datetime|symbol|instrument_id|status|exercise_style)(?: (asc|desc))?$/;
/** Contract 8.4 says nothing of more spaces and of letter case. */
const ODD_SORT_TERM = new RegExp(
  SORT_TERM.source.replace('(?: ', '(?: +').replace('^', '^ *').replace('$', ' *$'),
  'i',
);
const SORT_CHARACTERS_SURE = 200;

/** The fields of a `sort_by` that is not wrong. */
export const sortTerms = (text: string): { readonly field: string; readonly isDescending: boolean }[] =>
  text.split(',').map((term) => {
    const [, field, way] = ODD_SORT_TERM.exec(term)!;
    return { field: lowerAscii(field!), isDescending: lowerAscii(way ?? '') === 'desc' };
  });

const sortBy: Grammar = {
  make: (random) =>
    Array.from({ length: random.between(1, 3) }, () =>
      [
        random.pick([
          'strike_price',
          'expiration_date',
          'expiration_datetime',
          'symbol',
          'status',
          'exercise_style',
        ]),
        ...random.pick([[], ['asc'], ['desc']]),
      ].join(' '),
    ).join(),
  judge(text) {
    const terms = text.split(',');
    if (!terms.every((term) => ODD_SORT_TERM.test(term))) return 'wrong';
    const isSure = terms.every((term) => SORT_TERM.test(term)) && text.length <= SORT_CHARACTERS_SURE;
    return isSure ? 'right' : 'open';
  },
};

/** The formats of bars in bulk (contract 9.11). Parquet is made by a process, and has tests of its own. */
const bulkFormat: Grammar = {
  ...words('csv', 'arrow'),
  judge: (text) => verdict(['csv', 'arrow', 'parquet'].includes(lowerAscii(text))),
};

const symbols: Grammar = {
  make: (random) => Array.from({ length: random.between(1, 3) }, () => makeSymbol(random)).join(),
  judge: (text) => {
    const verdicts = text.split(',').map(symbolVerdict);
    return verdicts.find((one) => one === 'wrong') ?? verdicts.find((one) => one === 'open') ?? 'right';
  },
};

/** Of latest bars of many instruments (contract 9.15). */
const countrySymbols: Grammar = {
  make: (random) => Array.from({ length: random.between(1, 4) }, () => countrySymbol.make(random)).join(),
  judge: (text) => {
    const verdicts = text.split(',').map(nameVerdict);
    return verdicts.find((one) => one === 'wrong') ?? verdicts.find((one) => one === 'open') ?? 'right';
  },
};

const barColumns = [
  ...['asset_schema', 'interval', 'country_iso_code', 'exchange', 'symbol', 'datetime', 'close_datetime'],
  ...['session_date', 'open', 'high', 'low', 'close', 'volume', 'vwap'],
];

/** The columns of a right text (contract 9.16). */
export const columnsIn = (text: string): readonly string[] => lowerAscii(text).split(',');

const columns: Grammar = {
  make: (random) => random.anyCase(random.shuffle(barColumns).slice(0, random.between(1, 14)).join()),
  judge: (text) => {
    const names = columnsIn(text);
    return verdict(names.every((name) => barColumns.includes(name)) && new Set(names).size === names.length);
  },
};

const timeZones = ['America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe', 'UTC'];

/** Whether the platform knows another name is its own matter; an offset is no name. */
const timeZone: Grammar = {
  make: (random) => random.anyCase(random.pick(timeZones)),
  judge: (text) => {
    if (timeZones.some((name) => lowerAscii(name) === lowerAscii(text))) return 'right';
    return /^[A-Za-z][\w+/-]*$/.test(text) ? 'open' : 'wrong';
  },
};

const decimal: Grammar = {
  make: (random) =>
    random.pick(['2', '1.5', '2.75', '71.22', '100', '0.5', `${random.below(100_000) / 100}`]),
  judge: (text) => {
    if (/^\d{1,12}(\.\d{1,2})?$/.test(text)) return 'right';
    return /^[+-]?[\d.]+(?:e[+ -]?\d+)?$/i.test(text) ? 'open' : 'wrong';
  },
};

/** By the parameter's name, which is the specification's (spec 4, contract 9). */
const grammars: Readonly<Record<string, Grammar>> = {
  schema_asset: words(...assetTypes),
  country_symbol: countrySymbol,
  full_symbol: fullSymbol,
  country_iso_code: { make: makeCountry, judge: (text) => verdict(COUNTRY.test(text)) },
  interval,
  from_date: dateTime,
  to_date: dateTime,
  expiration_date: date,
  expiration_from: date,
  expiration_to: date,
  adjust: words('none', 'split', 'dividend', 'all'),
  adjustment: words('raw', 'split', 'dividend', 'all'),
  adjust_as_of: date,
  as_of: dateTime,
  format: words('json', 'csv'),
  sort: words('asc', 'desc'),
  action_type: words('dividend', 'split'),
  option_type: words('call', 'put', 'any'),
  moneyness: words('in_the_money', 'out_of_the_money', 'any'),
  impact: words('low', 'medium', 'high', 'all'),
  kind: words(
    ...[
      'isolated_wick',
      'unrecorded_split',
      'action_without_jump',
      'identity_break',
      'missing_session',
      'behind',
    ],
    ...['short_session', 'gap', 'closed_day', 'outside_session', 'off_grid', 'minute_day_mismatch', 'stale'],
    ...['vwap_outside', 'impossible_dividend', 'conflicting_imports', 'split_basis'],
  ),
  severity: words('info', 'warning', 'error'),
  date_type: words('upcoming', 'historical', 'all'),
  ref_asset_price: decimal,
  strike_price: decimal,
  strike_from: decimal,
  strike_to: decimal,
  holiday_code: formed(/^HOLIDAY_[A-Z0-9_]{1,90}$/i, [
    'HOLIDAY_CHRISTMAS',
    'HOLIDAY_NONE',
    'HOLIDAY_ODD_0',
    'holiday_odd_1',
  ]),
  event_code: formed(/^[A-Z0-9_]{1,90}$/i, ['ODD_ONE', 'odd_two', 'ODD_TWO', 'EMPLOYMENT_NFP_HEADLINE']),
  source_id: {
    make: (random) => (random.chance(0.1) ? '0'.repeat(64) : sourceIdOf(random.below(26))),
    judge: (text) =>
      /^[0-9a-f]{64}$/.test(text) ? 'right' : Array.from(text).length === 64 ? 'open' : 'wrong',
  },
  sort_by: sortBy,
  symbols,
  columns,
  timestamps: words('iso', 'unix', 'unix_ms'),
  tz: timeZone,
  query: formed(/^[^\p{Cc}]{1,100}$/u, ['A', 'aapl', 'NO', 'quote', 'bit coin', 'AAPL25', '=', '😀']),
};

/** The highest `limit` of an endpoint, by its path (spec 8, contract 4.4, 9). */
const limitMaxima: readonly [beginning: RegExp, max: number][] = [
  [/stock_corporate_action/, 1000],
  [/\/bars\/latest$/, 10],
  [/\/bars\//, 1000],
  [/\/option\/search\//, 1000],
  [/\/server\//, 1000],
  [/\/reference\/search$/, 100],
  [/\/coverage/, 1000],
  [/\/findings\//, 1000],
  [/\/(news|holiday|economic_calendar)\//, 1001],
];

/** Whether a parameter is a flag: all take the same words (contract 3.5). */
export const isFlag = ({ schema }: Parameter): boolean => (schema as { type?: string }).type === 'boolean';

/** The grammar of a parameter. Page keys are the fuzzer's own matter. @throws for a name that has none yet */
export function grammarOf({ path, parameters, isStreamed }: Endpoint, name: string): Grammar {
  if (name === 'format' && isStreamed) return bulkFormat;
  if (name === 'symbols' && !isStreamed) return countrySymbols;
  const max = limitMaxima.find(([beginning]) => beginning.test(path))?.[1];
  const ofKind = isFlag(parameters[name]!) ? flag : grammars[name];
  const grammar = name === 'limit' && max !== undefined ? limitUpTo(max) : ofKind;
  if (grammar === undefined) throw new Error(`test/fuzz/grammar.ts does not know ${name} of ${path} yet`);
  return grammar;
}

/** The date of a right text as it is written (contract 2.2). */
export const dayOf = (text: string): string => text.slice(0, 10);

/** A country as the service has it (contract 1.2). */
export const countryOf = (text: string): string => text.toUpperCase().replace(/^GB$/, 'UK');

/** The instrument that texts name, in one spelling but for letter case. */
export const nameOf = ({ schema_asset, country_symbol }: Texts): string =>
  `${schema_asset}:${country_symbol!.replace(/^GB:/i, 'UK:')}`;

/** The instant that a right text names, epoch milliseconds; of a date alone its first. */
export function instantOf(text: string): number {
  const [, day, clock = 'T00:00:00'] = /^(.{10})(.*)$/.exec(text)!;
  const rest = (clock || 'T00:00:00')
    .replace(SPACE_FOR_PLUS, '$1+$2')
    .replace(/^ /, 'T')
    .toUpperCase()
    .replace(/([+-]\d\d)(\d\d)$/, '$1:$2');
  return Date.parse(`${day}${rest}${/(Z|[+-]\d\d:\d\d)$/.test(rest) ? '' : 'Z'}`);
}

/** Farther apart than any zone and any session can bring two bounds together. */
const SURELY_APART_MS = 3 * 86_400_000;

/**
 * Whether a range's bounds are in order (contract 2.2, 2.3); `open` where only the market's hours could tell.
 */
export function judgeRange(from: string, to: string): Verdict {
  if (from.length === 10 && to.length === 10) return verdict(from <= to);
  const apartMs = instantOf(to) - instantOf(from);
  return Math.abs(apartMs) < SURELY_APART_MS ? 'open' : verdict(apartMs > 0);
}

// What each parameter takes, written from the specification and the contract alone: the oracle of the fuzzer.
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
const lowerAscii = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

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

/** Names that the fuzzer's store holds: the generator asks for them often. */
export const storedNames = [
  'stock:US:AAPL',
  'stock:US:^GSPC',
  'stock:US:A$#!@~&=+_/.-B',
  'crypto:GLOBAL:BTC-USD',
  'forex:GLOBAL:EUR/USD',
  'future:US:ESH25',
] as const;

function makeSymbol(random: Random): string {
  if (random.chance(0.8)) return random.pick(storedNames).split(':')[2]!;
  return Array.from({ length: random.between(1, 40) }, () => random.pick(Array.from(SYMBOL_CHARACTERS))).join(
    '',
  );
}

const makeCountry = (random: Random): string => random.anyCase(random.pick(countries));

/** Contract 1.3: the first colon parts country from symbol. */
function isCountrySymbol(text: string): boolean {
  const [country, ...symbol] = text.split(':');
  return COUNTRY.test(country!) && SYMBOL.test(symbol.join(':'));
}

const countrySymbol: Grammar = {
  make: (random) =>
    random.anyCase(
      random.chance(0.8)
        ? random.pick(storedNames).replace(/^\w+:/, '')
        : `${makeCountry(random)}:${makeSymbol(random)}`,
    ),
  judge: (text) => verdict(isCountrySymbol(text)),
};

const fullSymbol: Grammar = {
  make: (random) =>
    random.chance(0.3)
      ? random.anyCase(`${random.pick(assetTypes)}:${random.pick(countries)}:*`)
      : random.anyCase(random.pick(storedNames)),
  judge: (text) => {
    const [type, ...rest] = text.split(':');
    const isMarket = rest.length === 2 && rest[1] === '*' && COUNTRY.test(rest[0]!);
    return verdict(assetTypes.includes(lowerAscii(type!)) && (isMarket || isCountrySymbol(rest.join(':'))));
  },
};

const namedMinutes = [1, 3, 5, 10, 15, 30, 60, 120, 240];
const intervalAliases: Readonly<Record<string, string>> = {
  ...Object.fromEntries(namedMinutes.map((minutes) => [`${minutes}min`, `${minutes}M`])),
  ...{ '1h': '60M', '2h': '120M', '4h': '240M', '1d': 'DAY', day: 'DAY', '1w': 'WEEK', week: 'WEEK' },
  ...{ '1mo': 'MON', month: 'MON', mon: 'MON' },
};

/** The interval that a text means (contract 3.1), or null. */
export function intervalOf(text: string): string | null {
  const lower = lowerAscii(text);
  if (Object.hasOwn(intervalAliases, lower)) return intervalAliases[lower]!;
  const minutes = /^([1-9]\d*)m$/.exec(lower)?.[1];
  return minutes !== undefined && minutes.length < 5 && Number(minutes) <= 1440 ? `${minutes}M` : null;
}

const interval: Grammar = {
  make: (random) =>
    random.chance(0.2)
      ? `${random.between(1, 1440)}M`
      : random.anyCase(
          random.pick([...Object.keys(intervalAliases), ...namedMinutes.map((minutes) => `${minutes}M`)]),
        ),
  judge: (text) => verdict(intervalOf(text) !== null),
  words: ['unknown_interval'],
};

const DATE = /^(\d{4})-(\d\d)-(\d\d)/;
const CLOCK = /^[T ]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.(\d+))?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)?$/;
const SPACE_FOR_PLUS = /^([T ]\d\d:\d\d:\d\d(?:\.\d+)?) (\d\d:\d\d)$/;

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
  const offset = random.pick(['', '', 'Z', '+00:00', '-05:00', '+09:30', '+14:00', '-23:59']);
  return `${date}${random.pick(['T', ' '])}${clock}${fraction}${offset}`;
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

/** Free text, whose sense only the data can judge. */
const freeText = (examples: readonly string[]): Grammar => ({
  make: (random) => random.pick(examples),
  judge: () => 'open',
});

const decimal: Grammar = {
  make: (random) => random.pick(['71.22', '100', '0.5', `${random.below(100_000) / 100}`]),
  judge: (text) => {
    if (/^\d{1,12}(\.\d{1,2})?$/.test(text)) return 'right';
    return /^[+-]?[\d.]+$/.test(text) ? 'open' : 'wrong';
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
  is_eth: flag,
  session_date: flag,
  adjust: words('none', 'split', 'dividend', 'all'),
  adjust_as_of: date,
  csv_safe: flag,
  format: words('json', 'csv'),
  sort: words('asc', 'desc'),
  action_type: words('dividend', 'split'),
  option_type: words('call', 'put'),
  moneyness: words('in_the_money', 'out_of_the_money'),
  impact: words('low', 'medium', 'high', 'all'),
  date_type: words('upcoming', 'historical', 'all'),
  ref_asset_price: decimal,
  strike_price: decimal,
  holiday_code: freeText(['HOLIDAY_CHRISTMAS', 'HOLIDAY_NONE']),
  event_code: freeText(['EMPLOYMENT_NFP_HEADLINE', 'NONE']),
  source_id: {
    make: () => '0'.repeat(64),
    judge: (text) => (/^[0-9a-f]{64}$/.test(text) ? 'right' : text.length === 64 ? 'open' : 'wrong'),
  },
  sort_by: freeText(['strike_price', 'strike_price desc,expiration_date']),
  query: freeText(['A', 'APP', 'bit coin']),
};

/** The highest `limit` of an endpoint, by its path (spec 8, contract 4.4, 9). */
const limitMaxima: readonly [beginning: RegExp, max: number][] = [
  [/stock_corporate_action/, 1000],
  [/\/bars\//, 1000],
  [/\/option\/search\//, 1000],
  [/\/reference\/search$/, 100],
  [/\/(news|holiday|economic_calendar)\//, 1001],
];

/** The grammar of a parameter. Page keys are the fuzzer's own matter. @throws for a name that has none yet */
export function grammarOf(path: string, name: string): Grammar {
  const max = limitMaxima.find(([beginning]) => beginning.test(path))?.[1];
  const grammar = name === 'limit' && max !== undefined ? limitUpTo(max) : grammars[name];
  if (grammar === undefined) throw new Error(`test/fuzz/grammar.ts does not know ${name} of ${path} yet`);
  return grammar;
}

/** The instant that a right text names, epoch milliseconds; of a date alone its first. */
function instantOf(text: string): number {
  const [, day, clock = 'T00:00:00'] = /^(.{10})(.*)$/.exec(text)!;
  const rest = (clock || 'T00:00:00').replace(SPACE_FOR_PLUS, '$1+$2').replace(/^ /, 'T');
  return Date.parse(`${day}${rest}${/(Z|[+-]\d\d:\d\d)$/.test(rest) ? '' : 'Z'}`);
}

/** Farther apart than any zone and any session can bring two bounds together. */
const SURELY_APART_MS = 3 * 86_400_000;

/** Whether a range's bounds are in order (contract 2.2, 2.3); `open` where only the market's hours could tell. */
export function judgeRange(from: string, to: string): Verdict {
  if (from.length === 10 && to.length === 10) return verdict(from <= to);
  const apartMs = instantOf(to) - instantOf(from);
  return Math.abs(apartMs) < SURELY_APART_MS ? 'open' : verdict(apartMs > 0);
}

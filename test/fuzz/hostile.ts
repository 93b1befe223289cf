// Texts that nobody sends by accident, whole and as changes of good ones, and the ways to write them into an
// address.
import type { Random } from './random.ts';

/** Texts as they are to arrive, decoded. */
const texts: readonly string[] = [
  ...[
    '0x10',
    '1e2',
    '1.5',
    '-1',
    '+5',
    '0',
    '00',
    '007',
    '1001',
    '1002',
    '99999999999999999999',
    '0000000001',
  ],
  ...['NaN', 'null', 'undefined', 'Infinity', 'true ', ' true', 'on', '__proto__', 'constructor', 'toString'],
  ...['\0', 'US:A\0', '5\0', '\n', '5\n', 'x\r\nSet-Cookie: a=b', '\t', ' ', '+', '%', '%25', '%2500', '%00'],
  ...['٥', '１０', '😀', 'é', 'ｌocalhost', '\u202e', '\ufeff1M', '\u212a', 'ſtock', 'ı', 'STOCK\u0301'],
  ...["' or 1=1--", '../../etc/passwd', '..', '.', '<script>', '[object Object]', '{}', '[]', '""', '*'],
  ...['US', ':', 'US:', ':AAPL', 'US::AAPL', 'US:AAPL:', 'USA:AAPL', 'US:AA PL', `US:${'A'.repeat(41)}`],
  ...['GLOBAL:', 'G:A', 'stock:US', 'stock:US:', 'stock:*:*', 'stock:US:*A', 'bond:US:*', 'US:%41'],
  ...['1441M', '0M', '01M', '-5M', '1.5M', '1MONTH', '2D', '3h', '1Y', 'M', '60', '60 M', 'DAYS'],
  ...['2025-02-30', '2025-13-01', '1899-12-31', '2201-01-01', '2025-3-3', '20250303', '03/03/2025', 'today'],
  ...['2025-03-03T24:00:00', '2025-03-03T09:60:00', '2025-03-03T09:30:60', '2025-03-03T09:30', '2025-03-03Z'],
  ...['2025-03-03T09:30:00+24:00', '2025-03-03T09:30:00+05', '2025-03-03T09:30:00.', '2025-03-03t09:30:00z'],
  ...['-2025-03-03', '+002025-03-03', '2025-03-03T09:30:00 05:00', '2025-03-03T09:30:00,5', '1741012200'],
  ...['9'.repeat(400), 'a'.repeat(2_000), '😀'.repeat(200), 'A'.repeat(41)],
];

/** Pieces of an address that decode to no text. */
const broken: readonly string[] = [
  '%',
  '%2',
  '%ZZ',
  '%FF',
  '%C0%80',
  '%ED%A0%80',
  'a%ED%BF%BF',
  '%F4%90%80%80',
];

/** How a text begins: digits, letters or signs. */
const beginning = (text: string): string =>
  text
    .slice(0, 2)
    .replace(/\d/g, '0')
    .replace(/[A-Za-z]/g, 'a');

const byBeginning = Map.groupBy(texts, beginning);

/** A hostile text of any kind, one that begins like a good one, or a good one with something done to it. */
export function hostileText(random: Random, good: string): string {
  if (random.chance(0.3)) return random.pick(texts);
  if (random.chance(0.5)) return random.pick(byBeginning.get(beginning(good)) ?? texts);
  const at = random.below(good.length + 1);
  const extra = random.pick([
    '\0',
    ' ',
    '0',
    '9',
    'A',
    '-',
    ':',
    '😀',
    '%',
    '+',
    '\u0301',
    ',',
    '.',
    '/',
    '*',
  ]);
  const changes = [
    good.slice(0, at),
    good.slice(0, at) + extra + good.slice(at),
    good.slice(0, at) + extra + good.slice(at + 1),
    good + good,
    ` ${good}`,
    `${good}\n`,
    `"${good}"`,
  ];
  return random.pick(changes);
}

/** A piece of an address that cannot be decoded, alone or behind a good text. */
export function brokenPiece(random: Random, good: string, place: 'path' | 'query'): string {
  const piece = random.pick(broken);
  return random.chance(0.5) ? piece : writeText(random, good, place) + piece;
}

/**
 * What may stand in a path segment as it is, and in a query value; `+` stands for a space there (contract
 * 2.1).
 */
const AS_IT_IS = { path: /[A-Za-z0-9\-._~!$'()*,;:@&=+]/, query: /[A-Za-z0-9\-._~!$'()*,;:@/?=]/ } as const;

function percent(random: Random, character: string): string {
  const hex = Buffer.from(character.toWellFormed()).toString('hex');
  return (random.chance(0.3) ? hex : hex.toUpperCase()).replace(/../g, '%$&');
}

/** Percent-encoded where it must be, and now and then where it need not be; it decodes to the text. */
export function writeText(random: Random, text: string, place: 'path' | 'query'): string {
  const eager = random.chance(0.2) ? 0.5 : 0;
  if (eager === 0 && /^[\w.:-]*$/.test(text)) return text;
  return Array.from(text, (character) => {
    if (character === ' ' && place === 'query' && random.chance(0.5)) return '+';
    return AS_IT_IS[place].test(character) && !random.chance(eager) ? character : percent(random, character);
  }).join('');
}

/**
 * A written symbol with its slashes as they are, where no part between them is one that clients drop
 * (contract 1.7).
 */
export function withSlashes(written: string): string {
  const parts = written.split('%2F');
  return parts.some((part) => /^(\.|%2e){0,2}$/i.test(part)) ? written : parts.join('/');
}

/** Query parameters that no endpoint knows (contract 4.4). */
const strangers: readonly string[] = [
  ...[
    'a=b',
    '__proto__=1',
    'constructor=x',
    'hasOwnProperty',
    '=',
    '=x',
    '',
    '%=1',
    '%ED%A0%80=1',
    'limit%00=5',
  ],
  ...[
    'LIMIT=0',
    'limit[]=5',
    'limit%20=0',
    'next_page_url=http://evil.example/',
    'callback=x',
    '%F0%9F%98%80=1',
  ],
];

export function stranger(random: Random): string {
  return random.pick(strangers);
}

/** A path like the one given that no endpoint has (contract 6.4). */
export function lostPath(random: Random, path: string): string {
  // Below the list of series are the sessions of each instrument.
  const leaf = path.endsWith('/coverage') ? `${path}s` : path;
  return random.pick([
    `${leaf}/`,
    `/${path}`,
    `${leaf}//x`,
    path.replace('/api/v2', '/api'),
    path.replace('/api/', '/API/'),
    path.replace('/api/', '/%61pi/'),
    path.replace('/v2/', '/v3/'),
    path.replace('/v2/', '/v2/../v2/'),
    path.replace('/api/', '/api;x/'),
    '/a'.repeat(2_000),
    '/none',
    '/__proto__/constructor',
    '/%',
  ]);
}

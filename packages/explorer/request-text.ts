// One request in every form in which a program may send it: address, curl, TypeScript, Python.
import { type AnyName, address, type Value, wireNames } from '../client/sent.ts';

/** A request: an endpoint and its parameters, by their names on the wire or in the client. */
export type AskedRequest = {
  readonly name: AnyName;
  readonly values: Readonly<Record<string, Value>>;
};

/** How the clients call an endpoint: the method, its arguments by position, what follows the call. */
type Method = {
  readonly name: string;
  readonly positions: readonly string[];
  readonly isList?: boolean;
  /** Parameters that the method has not: its rows are always in order of time. */
  readonly lacks?: readonly string[];
};

const instrument = ['schema_asset', 'country_symbol'] as const;

const typescriptMethods: { readonly [N in AnyName]?: Method } = {
  historicalBars: { name: 'bars', positions: [...instrument, 'interval'], isList: true },
  latestBars: { name: 'latest', positions: [...instrument, 'interval'] },
  latestOfMany: { name: 'latestOfMany', positions: ['schema_asset', 'symbols', 'interval'] },
  instrumentReference: { name: 'reference', positions: instrument },
  instrumentSearch: { name: 'search', positions: ['schema_asset', 'query'] },
  corporateActions: { name: 'actions', positions: ['country_symbol'], isList: true },
  newsList: { name: 'news', positions: [], isList: true },
  latestNews: { name: 'latestNews', positions: [] },
  optionSearch: { name: 'options', positions: [...instrument, 'option_type', 'moneyness'], isList: true },
  optionExpirations: { name: 'expirations', positions: instrument },
  holidayList: { name: 'holidays', positions: ['full_symbol'], isList: true },
  holidayCodes: { name: 'holidayCodes', positions: ['country_iso_code'] },
  economicEvents: { name: 'events', positions: [], isList: true },
  latestEconomicEvents: { name: 'latestEvents', positions: [] },
  economicEvent: { name: 'event', positions: [] },
  economicEventCodes: { name: 'eventCodes', positions: ['country_iso_code'] },
  seriesCoverage: { name: 'coverage', positions: ['schema_asset'], isList: true },
  sessionCoverage: { name: 'sessions', positions: instrument, isList: true },
  findings: { name: 'findings', positions: instrument, isList: true },
  runs: { name: 'runs', positions: [], isList: true },
  addressInfo: { name: 'addressInfo', positions: [] },
};

/** The Python client names an instrument or a market by one text, and a range by two positions. */
const pythonMethods: { readonly [N in AnyName]: Method } = {
  historicalBars: {
    name: 'bars',
    positions: ['symbol', 'interval', 'from_date', 'to_date'],
    lacks: ['sort'],
  },
  latestBars: { name: 'latest', positions: ['symbol', 'interval'] },
  latestOfMany: { name: 'latest', positions: ['symbols', 'interval'] },
  bulkBars: { name: 'bulk', positions: ['market', 'interval', 'from_date', 'to_date', 'symbols'] },
  instrumentReference: { name: 'reference', positions: ['symbol'] },
  instrumentSearch: { name: 'search', positions: ['query', 'schema_asset'] },
  corporateActions: { name: 'actions', positions: ['symbol', 'from_date', 'to_date'] },
  newsList: { name: 'news', positions: ['from_date', 'to_date', 'full_symbol'] },
  latestNews: { name: 'latest_news', positions: ['full_symbol'] },
  optionSearch: { name: 'options', positions: ['symbol', 'option_type', 'moneyness'] },
  optionExpirations: { name: 'expirations', positions: ['symbol'] },
  holidayList: { name: 'holidays', positions: ['full_symbol', 'from_date', 'to_date'] },
  holidayCodes: { name: 'holiday_codes', positions: ['country_iso_code'] },
  economicEvents: { name: 'events', positions: ['from_date', 'to_date'] },
  latestEconomicEvents: { name: 'latest_events', positions: [] },
  economicEvent: { name: 'event', positions: [] },
  economicEventCodes: { name: 'event_codes', positions: ['country_iso_code'] },
  seriesCoverage: { name: 'coverage', positions: ['schema_asset'] },
  sessionCoverage: { name: 'sessions', positions: ['symbol', 'from_date', 'to_date'] },
  findings: { name: 'findings', positions: ['symbol', 'from_date', 'to_date'] },
  runs: { name: 'runs', positions: [] },
  addressInfo: { name: 'address_info', positions: [] },
};

const pythonNames: Readonly<Record<string, string>> = {
  country_iso_code: 'country',
  full_symbol: 'symbol',
  from_date: 'start',
  to_date: 'end',
};
const typescriptNames: Readonly<Record<string, string>> = { from_date: 'from', to_date: 'to' };

/** What a program's client sends by itself. */
const own: ReadonlySet<string> = new Set(['format', 'csv_safe', 'session_date', 'next_page_key', 'limit']);

type Given = readonly (readonly [string, Value])[];

const givenOf = ({ values }: AskedRequest): Given =>
  Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[wireNames[name] ?? name, value] as const],
  );

/** Parameters that are lists in programs. */
const lists: ReadonlySet<string> = new Set(['symbols', 'columns']);

/** A value as a literal of both languages; booleans differ. */
function quoted(value: Value, isList = false): string {
  if (isList)
    return `[${String(value)
      .split(',')
      .map((one) => quoted(one))
      .join(', ')}]`;
  return typeof value === 'string'
    ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
    : String(value);
}

/** The whole address, without a key. */
export const urlOf = (service: string, { name, values }: AskedRequest): string =>
  `${service}${address(name, values)}`;

/** A command for a shell; the key comes from its environment. */
export const curlOf = (service: string, asked: AskedRequest): string =>
  `curl -s -H "Authorization: Bearer $BOURSE_KEY" '${urlOf(service, asked).replaceAll("'", '%27')}'`;

/**
 * Where a program of Node.js finds the key: only a text here, so no source but `cli/config.ts` has it whole.
 */
const typescriptKey = ['process', 'env', 'BOURSE_KEY!'].join('.');

/** A program for the TypeScript client. Null for an endpoint that it has no method for. */
export function typescriptOf(service: string, asked: AskedRequest): string | null {
  const method = typescriptMethods[asked.name];
  if (method === undefined) return null;
  const given = givenOf(asked);
  const values = Object.fromEntries(given);
  const options = given
    .filter(([name]) => !method.positions.includes(name) && !own.has(name))
    .map(([name, value]) => `${typescriptNames[name] ?? name}: ${quoted(value, lists.has(name))}`);
  const positions = method.positions.map((name) => quoted(values[name], lists.has(name)));
  const inputs = [...positions, ...(options.length === 0 ? [] : [`{ ${options.join(', ')} }`])].join(', ');
  return `import { Bourse } from 'bourse/client';

const bourse = new Bourse({ url: ${quoted(service)}, key: ${typescriptKey} });
const rows = await bourse.${method.name}(${inputs})${method.isList ? '.toArray()' : ''};
console.log(rows);
`;
}

const pythonLiteral = (value: Value, isList: boolean): string =>
  typeof value === 'boolean' ? (value ? 'True' : 'False') : quoted(value, isList);

/** A program for the Python client, whose frames have instants in their own form. */
export function pythonOf(service: string, asked: AskedRequest): string {
  const method = pythonMethods[asked.name];
  const given = givenOf(asked).filter(
    ([name]) => !own.has(name) && name !== 'timestamps' && !method.lacks?.includes(name),
  );
  const values: Record<string, Value> = Object.fromEntries(given);
  const { schema_asset: schema = 'stock', country_symbol, country_iso_code, symbols } = values;
  const ofType = (text: Value): string => `${schema === 'stock' ? '' : `${String(schema)}:`}${String(text)}`;
  const all: Record<string, Value> = {
    ...values,
    ...(country_symbol !== undefined && { symbol: ofType(country_symbol) }),
    ...(asked.name === 'bulkBars' && { market: ofType(country_iso_code) }),
    ...(asked.name === 'latestOfMany' && { symbols: String(symbols).split(',').map(ofType).join() }),
  };
  // A position may be left out only with all behind it; Python then takes its own default.
  const known = method.positions.map((name) => all[name]);
  const absent = known.indexOf(undefined);
  const count = absent < 0 ? known.length : absent;
  const taken = new Set([...method.positions.slice(0, count), 'schema_asset', 'country_symbol']);
  if (asked.name === 'bulkBars') taken.add('country_iso_code');
  const named = given
    .filter(([name]) => !taken.has(name))
    .map(([name, value]) => `${pythonNames[name] ?? name}=${pythonLiteral(value, lists.has(name))}`);
  const positions = known
    .slice(0, count)
    .map((value, at) => pythonLiteral(value, lists.has(method.positions[at]!)));
  const inputs = [...positions, ...named].join(', ');
  return `import os
from bourse import Bourse

bourse = Bourse(${quoted(service)}, os.environ['BOURSE_KEY'])
print(bourse.${method.name}(${inputs}))
`;
}

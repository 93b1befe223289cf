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
  instrumentReference: { name: 'reference', positions: instrument },
  instrumentSearch: { name: 'search', positions: ['schema_asset', 'query'] },
  corporateActions: { name: 'actions', positions: ['country_symbol'], isList: true },
  newsList: { name: 'news', positions: [], isList: true },
  latestNews: { name: 'latestNews', positions: [] },
  optionSearch: { name: 'options', positions: [...instrument, 'option_type', 'moneyness'], isList: true },
  optionExpirations: { name: 'expirations', positions: instrument },
  holidayList: { name: 'holidays', positions: ['full_symbol'], isList: true },
  economicEvents: { name: 'events', positions: [], isList: true },
  seriesCoverage: { name: 'coverage', positions: ['schema_asset'], isList: true },
  sessionCoverage: { name: 'sessions', positions: instrument, isList: true },
  findings: { name: 'findings', positions: instrument, isList: true },
};

/** The Python client names an instrument by one text, and a range by its first two arguments. */
const pythonMethods: { readonly [N in AnyName]?: Method } = {
  historicalBars: {
    name: 'bars',
    positions: ['symbol', 'interval', 'from_date', 'to_date'],
    lacks: ['sort'],
  },
  latestBars: { name: 'latest', positions: ['symbol', 'interval'] },
  instrumentReference: { name: 'reference', positions: ['symbol'] },
  instrumentSearch: { name: 'search', positions: ['query', 'schema_asset'] },
  corporateActions: { name: 'actions', positions: ['symbol', 'from_date', 'to_date'] },
  newsList: { name: 'news', positions: ['from_date', 'to_date', 'full_symbol'] },
  optionSearch: { name: 'options', positions: ['symbol', 'option_type', 'moneyness'] },
  optionExpirations: { name: 'expirations', positions: ['symbol'] },
  holidayList: { name: 'holidays', positions: ['full_symbol', 'from_date', 'to_date'] },
  economicEvents: { name: 'events', positions: ['from_date', 'to_date'] },
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

/** A value as a literal of both languages; booleans differ. */
const quoted = (value: Value): string =>
  typeof value === 'string' ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'` : String(value);

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
    .map(([name, value]) => `${typescriptNames[name] ?? name}: ${quoted(value)}`);
  const positions = method.positions.map((name) => quoted(values[name]));
  const inputs = [...positions, ...(options.length === 0 ? [] : [`{ ${options.join(', ')} }`])].join(', ');
  return `import { Bourse } from 'bourse/client';

const bourse = new Bourse({ url: ${quoted(service)}, key: ${typescriptKey} });
const rows = await bourse.${method.name}(${inputs})${method.isList ? '.toArray()' : ''};
console.log(rows);
`;
}

const pythonLiteral = (value: Value): string =>
  typeof value === 'boolean' ? (value ? 'True' : 'False') : quoted(value);

/** A program for the Python client. Null for an endpoint that it has no method for. */
export function pythonOf(service: string, asked: AskedRequest): string | null {
  const method = pythonMethods[asked.name];
  if (method === undefined) return null;
  const given = givenOf(asked).filter(([name]) => !own.has(name) && !method.lacks?.includes(name));
  const values: Record<string, Value> = Object.fromEntries(given);
  const schema = values.schema_asset ?? 'stock';
  const symbol = `${schema === 'stock' ? '' : `${String(schema)}:`}${String(values.country_symbol)}`;
  const all: Record<string, Value> = values.country_symbol === undefined ? values : { ...values, symbol };
  // A position may be left out only with all behind it; Python then takes its own default.
  const known = method.positions.map((name) => all[name]);
  const absent = known.indexOf(undefined);
  const count = absent < 0 ? known.length : absent;
  const taken = new Set([...method.positions.slice(0, count), 'schema_asset', 'country_symbol']);
  const named = given
    .filter(([name]) => !taken.has(name))
    .map(([name, value]) => `${pythonNames[name] ?? name}=${pythonLiteral(value)}`);
  const inputs = [...known.slice(0, count).map(pythonLiteral), ...named].join(', ');
  return `import os
from bourse import Bourse

bourse = Bourse(${quoted(service)}, os.environ['BOURSE_KEY'])
print(bourse.${method.name}(${inputs}))
`;
}

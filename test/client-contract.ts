// `npm run client`: writes what the TypeScript client needs of the contract, its paths and the types of what
// programs give and get. So the client is published by itself.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bulkBars, historicalBars } from '../src/contract/bars.ts';
import { actionKinds, corporateActions } from '../src/contract/corporate-actions.ts';
import type { Endpoint, Parameter } from '../src/contract/endpoint.ts';
import type { Schema } from '../src/contract/fields.ts';
import { assetSchemas, dataEndpoints, errors } from '../src/contract/index.ts';
import * as kind from '../src/contract/kinds.ts';

/** The file that is written. */
export const clientContract = join(import.meta.dirname, '../packages/client/contract.ts');

const COLUMNS_MAX = 110;

/** Lines of as many items as they have room for; of a choice of words and an object as many parts. */
function filled(indent: string, items: readonly string[]): string {
  const lines: string[] = [];
  for (const item of items.flatMap((one) => one.split(/(?<=;) | (?=\| )/))) {
    const longer = `${lines.at(-1) ?? indent.slice(1)} ${item}`;
    if (lines.length > 0 && longer.length <= COLUMNS_MAX) lines[lines.length - 1] = longer;
    else lines.push(`${indent}${item}`);
  }
  return lines.join('\n');
}

/** An object's type, in one line where it has room for it. */
function objectType(indent: string, before: string, fields: readonly string[]): string {
  if (fields.length === 0) return `${indent}${before}object;`;
  const line = `${indent}${before}{ ${fields.join('; ')} };`;
  if (line.length <= COLUMNS_MAX) return line;
  return `${indent}${before}{\n${filled(
    `${indent}  `,
    fields.map((field) => `${field};`),
  )}\n${indent}};`;
}

const words = (all: readonly unknown[]): string => all.map((word) => `'${String(word)}'`).join(' | ');

/** The parts of a JSON Schema that types follow from. */
type Plain = {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Plain[];
  readonly items?: Plain;
  readonly properties?: Readonly<Record<string, Plain>>;
  readonly required?: readonly string[];
};

/** The fields of an object, each with its type. */
const fieldsOf = ({ properties = {}, required = [] }: Plain): string[] =>
  Object.entries(properties).map(
    ([name, field]) => `${name}${required.includes(name) ? '' : '?'}: ${typeOf(field)}`,
  );

/** The type of a schema's values. */
function typeOf(schema: Plain): string {
  if (schema.enum !== undefined) return words(schema.enum);
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(' | ');
  if (schema.items !== undefined) return `${typeOf(schema.items)}[]`;
  if (schema.properties !== undefined) return `{ ${fieldsOf(schema).join('; ')} }`;
  if (schema.type === 'object') return 'Record<string, string>';
  return schema.type === 'integer' ? 'number' : schema.type!;
}

/** Kinds of which a program gives something else than their schema says. */
const given = new Map<unknown, string>([
  [kind.assetSchema.parse, 'AssetSchema'],
  [kind.interval.parse, 'IntervalCode'],
  [kind.symbolList.parse, 'readonly string[]'],
  [kind.countrySymbolList.parse, 'readonly string[]'],
  ...[historicalBars, bulkBars].map(
    ({ parameters }) => [parameters.columns.parse, 'readonly (keyof Bar)[]'] as const,
  ),
  // The schema has those without `extended` alone.
  [corporateActions.parameters.action_type.parse, words(actionKinds)],
  ...[kind.dateTime, kind.moment, kind.date].map(({ parse }) => [parse, 'When'] as const),
]);

/** A range has `from` and `to`; the other names are those of the wire. */
const optionNames: Readonly<Record<string, string>> = { from_date: 'from', to_date: 'to' };

/** The client sends these by itself, so that its answers are JSON and pages follow each other. */
const sentAnyway = new Set(['format', 'csv_safe', 'next_page_key']);

/** A title of a record. */
const titleOf = (record: Schema): string => String(record.title);

function endpointType([name, { parameters, record, isStreamed }]: [string, Endpoint]): string {
  const own = Object.entries<Parameter>(parameters).filter(
    ([key, { aliasFor }]) => aliasFor === undefined && (isStreamed || !sentAnyway.has(key)),
  );
  const fields = (isNeeded: boolean): string[] =>
    own
      .filter(([, { required }]) => required === isNeeded)
      .map(
        ([key, { parse, schema }]) =>
          `${optionNames[key] ?? key}: ${given.get(parse) ?? typeOf(schema as Plain)}`,
      );
  return `  ${name}: {
    record: ${titleOf(record)};
${objectType('    ', 'needs: ', fields(true))}
${objectType('    ', 'takes: ', fields(false))}
  };`;
}

/** The text of the file. */
export function contractText(): string {
  const endpoints = Object.entries<Endpoint>(dataEndpoints);
  const records = new Map(endpoints.map(([, { record }]) => [titleOf(record), record as Plain]));
  const title =
    'Written by `npm run client` from the contract, and compared by a test: what it says of endpoints.';
  return `// ${title}

export type AssetSchema = ${words(assetSchemas)};

/** An interval as a program writes it. Other minutes than 1..1440 are refused. */
export type IntervalCode = \`\${number}M\` | 'DAY' | 'WEEK' | 'MON';

/** A word of the service's catalogue (contract 6.3). */
export type ErrorWord =
${filled(
  '  ',
  Object.keys(errors).map((word) => `| '${word}'`),
)};

/** A date or a date-time as text; a \`Date\` is an instant. */
type When = string | Date;

/** The paths of the endpoints. */
export const paths = {
${endpoints.map(([name, { path }]) => `  ${name}: '${path}',`).join('\n')}
} as const;

${Array.from(records, ([title, record]) =>
  record.properties === undefined
    ? `type ${title} = ${typeOf(record)};`
    : objectType('', `${title === 'Bar' ? 'export ' : ''}type ${title} = `, fieldsOf(record)),
).join('\n\n')}

/** Each endpoint: its record, what a program must give, and what it may give. */
export type Endpoints = {
${endpoints.map(endpointType).join('\n')}
};
`;
}

if (import.meta.main) writeFileSync(clientContract, contractText());

// Declared schemas as an OpenAPI document has them, and the whole answers that are made of records (spec 2.1,
// 2.2).
import type { Endpoint } from '../../contract/endpoint.ts';

/** A part of the document: JSON Schema of draft 2020-12, or an object of OpenAPI. */
export type Json = Readonly<Record<string, unknown>>;

/** The parts of JSON Schema that the contract uses. */
export type PlainSchema = Json & {
  readonly type?: string | readonly string[];
  readonly enum?: readonly (string | null)[];
  readonly format?: string;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly items?: PlainSchema;
  readonly properties?: Readonly<Record<string, PlainSchema>>;
};

/** A reference to a component of the document. */
export const ref = (kind: string, name: string): Json => ({ $ref: `#/components/${kind}/${name}` });

/**
 * A schema without the parts that only code needs. A value or null becomes one type: client generators handle
 * that better.
 */
export function plainSchema(schema: unknown): PlainSchema {
  return simpler(JSON.parse(JSON.stringify(schema))) as PlainSchema;
}

function simpler(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(simpler);
  if (typeof node !== 'object' || node === null) return node;
  const { anyOf, ...rest } = node as { anyOf?: readonly Json[] };
  if (anyOf?.length === 2 && anyOf[1]?.type === 'null')
    return { ...orNull(simpler(anyOf[0]) as Json), ...rest };
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, key === 'examples' ? value : simpler(value)]),
  );
}

function orNull(schema: Json): Json {
  if ('enum' in schema) return { ...schema, enum: [...(schema.enum as unknown[]), null] };
  return { ...schema, type: [schema.type, 'null'] };
}

/** The name of an endpoint's record among the document's schemas. */
export const recordName = ({ record }: Endpoint): string => (record as { title?: string }).title!;

/** Bars with other fields or times than the record: for `columns` and `timestamps` (contract 9.16). */
const PARTIAL_BAR = 'PartialBar';

/** The schema of such bars, by its name. */
export function partialBar({ properties }: PlainSchema): Json {
  const instant = (field: PlainSchema): PlainSchema =>
    field.format === 'date-time' ? { ...field, type: ['string', 'integer'] } : field;
  const description =
    'A bar with the fields of `columns`; its instants are numbers with `timestamps` `unix` or `unix_ms`.';
  const fields = Object.entries(properties!).map(([name, field]) => [name, instant(field)]);
  return { [PARTIAL_BAR]: { type: 'object', description, properties: Object.fromEntries(fields) } };
}

/** The record's example. */
export const recordExample = ({ record }: Endpoint): Json =>
  (record as { examples?: readonly Json[] }).examples![0]!;

const count = { type: 'integer', minimum: 0, description: 'Records of this answer' };
const orNoText = (description: string): Json => ({ type: ['string', 'null'], description });
const paging = {
  next_page_key: orNoText('Key of the next page, null on the last'),
  next_page_url: orNoText('Whole address of the next page, null on the last'),
};
const examplePaging = { next_page_key: null, next_page_url: null };

const object = (properties: Json): Json => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});

type Example = { readonly schema: Json; readonly example: unknown };

/** `result` of an endpoint, and an example of it. */
function resultOf(endpoint: Endpoint): Example {
  const whole = ref('schemas', recordName(endpoint));
  const record = 'columns' in endpoint.parameters ? { anyOf: [whole, ref('schemas', PARTIAL_BAR)] } : whole;
  const one = recordExample(endpoint);
  const data = { type: 'array', items: record };
  const { beside = {} } = endpoint;
  const list = {
    count: 1,
    data: [one],
    ...Object.fromEntries(Object.keys(beside).map((name) => [name, []])),
  };
  switch (endpoint.shape) {
    case 'single':
    case 'map':
      return { schema: record, example: one };
    case 'array':
      return { schema: data, example: [one] };
    case 'list':
      return { schema: object({ count, data, ...plainSchema(beside) }), example: list };
    case 'paged':
      return { schema: object({ ...paging, count, data }), example: { ...examplePaging, ...list } };
    case 'grouped': {
      const expires = String(one.expiration_datetime).replace('+00:00', 'Z');
      const expirations = { type: 'array', items: { type: 'string', format: 'date-time' } };
      const description = 'Expiration to contracts';
      const groups = { type: 'object', additionalProperties: data, description };
      return {
        schema: object({ count, ...paging, expiration_datetimes: expirations, data: groups }),
        example: { count: 1, ...examplePaging, expiration_datetimes: [expires], data: { [expires]: [one] } },
      };
    }
  }
}

/** The envelope of an endpoint's answers (spec 2.1), and an example of it. */
export function answerOf(endpoint: Endpoint): Example {
  const { schema: result, example } = resultOf(endpoint);
  const description = '`cached` if the record came from the cache of the server';
  return {
    schema: object({
      status: { const: 'ok' },
      code: { const: 200 },
      message: { type: 'string' },
      reference: { enum: ['cached', null], description },
      result,
    }),
    example: { status: 'ok', code: 200, message: 'success', reference: null, result: example },
  };
}

// Records on the wire and the schemas of their fields, from which types, CSV columns and OpenAPI derive.
import {
  Boolean as BooleanSchema,
  Integer,
  Null,
  Number as NumberSchema,
  Object as ObjectSchema,
  String as StringSchema,
  type TSchema,
  Union,
} from 'typebox';

export const text = (description: string) => StringSchema({ description });

/** A calendar date, `2025-07-18`. */
export const date = (description: string) => StringSchema({ format: 'date', description });

/** An instant in UTC (contract 2.4). */
export const dateTime = (description: string) => StringSchema({ format: 'date-time', description });

export const number = (description: string) => NumberSchema({ description });

export const integer = (description: string) => Integer({ description });

export const boolean = (description: string) => BooleanSchema({ description });

/** A value that may be null. */
export const nullable = <T extends TSchema>(schema: T) => Union([schema, Null()]);

/** A record: in the order of the wire each field's schema and, where the example has the field, its value there. */
export function record<const F extends Record<string, readonly [schema: TSchema, example?: unknown]>>(
  title: string,
  fields: F,
) {
  const given = Object.entries(fields);
  const schemas = Object.fromEntries(given.map(([name, [schema]]) => [name, schema]));
  const examples = given.flatMap(([name, [, example]]) => (example === undefined ? [] : [[name, example]]));
  return ObjectSchema(schemas as { -readonly [K in keyof F]: F[K][0] }, {
    title,
    examples: [Object.fromEntries(examples)],
  });
}

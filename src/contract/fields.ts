// Records on the wire and the schemas of their fields, from which types, CSV columns and OpenAPI derive.
import { type TSchema, Type } from 'typebox';

export const text = (description: string) => Type.String({ description });

/** A calendar date, `2025-07-18`. */
export const date = (description: string) => Type.String({ format: 'date', description });

/** An instant in UTC (contract 2.4). */
export const dateTime = (description: string) => Type.String({ format: 'date-time', description });

export const number = (description: string) => Type.Number({ description });

export const integer = (description: string) => Type.Integer({ description });

export const boolean = (description: string) => Type.Boolean({ description });

/** One of a few words. */
export const oneOf = <const W extends string>(words: readonly W[], description: string) =>
  Type.Enum([...words], { description });

/** A value that may be null. */
export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** A record: in the order of the wire each field's schema and, where the example has the field, its value there. */
export function record<const F extends Record<string, readonly [schema: TSchema, example?: unknown]>>(
  title: string,
  fields: F,
) {
  const given = Object.entries(fields);
  const schemas = Object.fromEntries(given.map(([name, [schema]]) => [name, schema]));
  const examples = given.flatMap(([name, [, example]]) => (example === undefined ? [] : [[name, example]]));
  return Type.Object(schemas as { -readonly [K in keyof F]: F[K][0] }, {
    title,
    examples: [Object.fromEntries(examples)],
  });
}

// Records on the wire and the JSON Schemas of their fields, from which types, CSV columns and OpenAPI derive.

declare const valueType: unique symbol;

/** A JSON Schema (draft 2020-12), plain data; in the type system it has the type of its values. */
export type Schema<T = unknown> = Readonly<Record<string, unknown>> & { readonly [valueType]?: T };

/** The type of a schema's values. */
export type Static<S> = S extends Schema<infer T> ? T : never;

/** Further keywords of a schema, such as `pattern` or `minimum`. */
type Keywords = Readonly<Record<string, unknown>>;

export const text = (description?: string, more: Keywords = {}): Schema<string> => ({
  type: 'string',
  ...more,
  description,
});

/** A calendar date, `2025-07-18`. */
export const date = (description: string) => text(description, { format: 'date' });

/** An instant in UTC (contract 2.4). */
export const dateTime = (description: string) => text(description, { format: 'date-time' });

export const number = (description: string): Schema<number> => ({ type: 'number', description });

export const integer = (description?: string, more: Keywords = {}): Schema<number> => ({
  type: 'integer',
  ...more,
  description,
});

/** A version of the stored data: after a restore or a copy it has more than 32 bits (contract 9.12). */
export const dataVersion = (description?: string) => integer(description, { format: 'int64', minimum: 0 });

export const boolean = (description: string): Schema<boolean> => ({ type: 'boolean', description });

/** One of a few words. */
export const oneOf = <const W extends string>(words: readonly W[], description?: string): Schema<W> => ({
  enum: words,
  description,
});

/** Null alone. */
export const nothing: Schema<null> = { type: 'null' };

/** A value that may be null. */
export const nullable = <T>(schema: Schema<T>): Schema<T | null> => ({ anyOf: [schema, nothing] });

export const list = <T>(items: Schema<T>, description?: string): Schema<T[]> => ({
  type: 'array',
  items,
  description,
});

/** Texts by names of any kind. */
export const textMap = (more: Keywords): Schema<Record<string, string>> => ({
  type: 'object',
  patternProperties: { '^.*$': text() },
  ...more,
});

/** A field that an object may lack. */
class OptionalField<T> {
  readonly schema: Schema<T>;

  constructor(schema: Schema<T>) {
    this.schema = schema;
  }
}

/** Marks a field that an object may lack. */
export const optionalField = <T>(schema: Schema<T>): OptionalField<T> => new OptionalField(schema);

type Fields = Readonly<Record<string, Schema | OptionalField<unknown>>>;

type ObjectOf<F extends Fields> = {
  -readonly [K in keyof F as F[K] extends OptionalField<unknown> ? never : K]: Static<F[K]>;
} & {
  -readonly [K in keyof F as F[K] extends OptionalField<unknown> ? K : never]?: F[K] extends OptionalField<
    infer T
  >
    ? T
    : never;
};

/** A schema of objects. */
export type ObjectSchema<T = unknown> = Schema<T> & {
  readonly properties: Readonly<Record<string, Schema>>;
  /** The fields that each object has; left out where there are none. */
  readonly required?: readonly string[];
};

/** An object: each field's schema, in the order of the wire. */
export function object<const F extends Fields>(fields: F, more: Keywords = {}): ObjectSchema<ObjectOf<F>> {
  const given = Object.entries(fields);
  const required = given.flatMap(([name, field]) => (field instanceof OptionalField ? [] : [name]));
  const schemas = given.map(([name, field]) => [name, field instanceof OptionalField ? field.schema : field]);
  return {
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(schemas),
    ...more,
  };
}

/**
 * A record: in the order of the wire each field's schema and, where the example has the field, its value
 * there.
 */
export function record<const F extends Record<string, readonly [schema: Fields[string], example?: unknown]>>(
  title: string,
  fields: F,
) {
  const given = Object.entries(fields);
  const schemas = Object.fromEntries(given.map(([name, [schema]]) => [name, schema]));
  const examples = given.flatMap(([name, [, example]]) => (example === undefined ? [] : [[name, example]]));
  return object(schemas as { readonly [K in keyof F]: F[K][0] }, {
    title,
    examples: [Object.fromEntries(examples)],
  });
}

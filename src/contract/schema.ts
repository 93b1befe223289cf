// Builders of the contract's JSON Schemas. They have TypeBox's types, and give what TypeBox's own give; that is hundreds of files, which
// every process and each of its threads would load for a few plain objects.
import type { TSchema, Type as TypeBox } from 'typebox';

type Options = Readonly<Record<string, unknown>>;

/** Schemas of fields that may be missing. */
const optional = new WeakSet<object>();

const kind = (schema: Options) => (options?: Options) => ({ ...schema, ...options });

function object(properties: Readonly<Record<string, TSchema>>, options?: Options) {
  const required = Object.keys(properties).filter((name) => !optional.has(properties[name]!));
  return { type: 'object', ...(required.length > 0 && { required }), properties, ...options };
}

function optionalOf(schema: TSchema): TSchema {
  const copy = { ...schema };
  optional.add(copy);
  return copy;
}

const builders = {
  Array: (items: TSchema, options?: Options) => ({ type: 'array', items, ...options }),
  Boolean: kind({ type: 'boolean' }),
  Enum: (words: readonly unknown[], options?: Options) => ({ enum: words, ...options }),
  Integer: kind({ type: 'integer' }),
  Literal: (value: unknown, options?: Options) => ({ type: typeof value, const: value, ...options }),
  Null: kind({ type: 'null' }),
  Number: kind({ type: 'number' }),
  Object: object,
  Optional: optionalOf,
  Partial: ({ properties }: { readonly properties: Readonly<Record<string, TSchema>> }) =>
    object(Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, optionalOf(one)]))),
  Record: (_key: TSchema, values: TSchema, options?: Options) => ({
    type: 'object',
    patternProperties: { '^.*$': values },
    ...options,
  }),
  String: kind({ type: 'string' }),
  Union: (anyOf: readonly TSchema[], options?: Options) => ({ anyOf, ...options }),
  Unknown: kind({}),
};

/** TypeBox's builders, as far as the contract uses them: plain JSON Schemas, with static types. */
export const Type = builders as unknown as Pick<typeof TypeBox, keyof typeof builders>;

// The builders of schemas make what TypeBox's own make.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type as TypeBox } from 'typebox';
import { Type } from './schema.ts';

const made = ({ Optional, ...make }: typeof Type): Readonly<Record<string, unknown>> => {
  const text = make.String({ pattern: '^a$', description: 'A text' });
  const object = make.Object(
    { a: text, b: Optional(make.Integer({ minimum: 1 })), c: Optional(make.Union([text, make.Null()])) },
    { title: 'One', examples: [{ a: 'a' }] },
  );
  return {
    array: make.Array(text, { minItems: 1 }),
    boolean: make.Boolean({ default: true }),
    enumeration: make.Enum(['x', 'y'], { description: 'A word' }),
    literal: [make.Literal('error'), make.Literal(1)],
    number: make.Number(),
    object,
    withoutRequired: make.Object({ b: Optional(text) }),
    partial: make.Partial(object),
    record: make.Record(make.String(), text, { description: 'By name' }),
    unknown: make.Unknown(),
  };
};

test('every builder makes the schema that TypeBox makes, keys in the same order', () => {
  const [own, right] = [made(Type), made(TypeBox)];
  for (const [name, schema] of Object.entries(right))
    assert.equal(JSON.stringify(own[name]), JSON.stringify(schema), name);
});

test('a field that may be missing stays required where it is used elsewhere', () => {
  const text = Type.String();
  assert.equal('required' in Type.Object({ a: Type.Optional(text) }), false);
  assert.deepEqual(Type.Object({ a: text }).required, ['a']);
});

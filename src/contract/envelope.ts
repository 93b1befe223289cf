// The envelope around every JSON answer (spec 2.1, contract 6.1, 6.2), and what a paged result carries (spec 2.2).
import {
  Enum,
  Integer,
  Literal,
  Null,
  Object as ObjectSchema,
  Optional,
  type Static,
  String as StringSchema,
  Unknown,
} from 'typebox';
import { type ErrorWord, errors } from './errors.ts';

/** The message of every success. */
export const SUCCESS_MESSAGE = 'success';

/** A failure's envelope. */
export const errorEnvelope = ObjectSchema({
  status: Literal('error'),
  code: Integer(),
  message: StringSchema(),
  reference: Null(),
  result: Null(),
  detail: ObjectSchema({
    error: Enum(Object.keys(errors) as ErrorWord[]),
    param: Optional(StringSchema()),
    got: Optional(StringSchema()),
    allowed: Optional(Unknown()),
    hint: Optional(StringSchema()),
    request_id: StringSchema(),
  }),
});
export type ErrorEnvelope = Static<typeof errorEnvelope>;

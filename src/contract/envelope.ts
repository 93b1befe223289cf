// The envelope around every JSON answer (spec 2.1, contract 6.1, 6.2), and what a paged result carries (spec
// 2.2).
import { type ErrorWord, errors } from './errors.ts';
import {
  integer,
  literal,
  nothing,
  object,
  oneOf,
  optionalField,
  type Schema,
  type Static,
  text,
} from './fields.ts';

/** The message of every success. */
export const SUCCESS_MESSAGE = 'success';

/** A failure's envelope. */
export const errorEnvelope = object({
  status: literal('error'),
  code: integer(),
  message: text(),
  reference: nothing,
  result: nothing,
  detail: object({
    error: oneOf(Object.keys(errors) as ErrorWord[]),
    param: optionalField(text()),
    got: optionalField(text()),
    allowed: optionalField({} as Schema),
    hint: optionalField(text()),
    request_id: text(),
  }),
});
export type ErrorEnvelope = Static<typeof errorEnvelope>;

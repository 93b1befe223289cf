// The envelope around every JSON answer (spec 2.1, contract 6.1, 6.2), and what a paged result carries (spec 2.2).
import { type Static, Type } from 'typebox';
import { type ErrorWord, errors } from './errors.ts';

/** The message of every success. */
export const SUCCESS_MESSAGE = 'success';

/** A failure's envelope. */
export const errorEnvelope = Type.Object({
  status: Type.Literal('error'),
  code: Type.Integer(),
  message: Type.String(),
  reference: Type.Null(),
  result: Type.Null(),
  detail: Type.Object({
    error: Type.Enum(Object.keys(errors) as ErrorWord[]),
    param: Type.Optional(Type.String()),
    got: Type.Optional(Type.String()),
    allowed: Type.Optional(Type.Unknown()),
    hint: Type.Optional(Type.String()),
    request_id: Type.String(),
  }),
});
export type ErrorEnvelope = Static<typeof errorEnvelope>;

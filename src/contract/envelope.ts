// The envelope around every JSON answer (spec 2.1, contract 6.1, 6.2), and the headers that tell what an
// answer has otherwise than one may think.
import { type ErrorWord, errors } from './errors.ts';
import { integer, nothing, object, oneOf, optionalField, type Schema, type Static, text } from './fields.ts';

export const warnings: readonly (readonly [header: string, words: string])[] = [
  ['X-No-Data', 'Why there are no bars'],
  ['X-Missing-Symbols', 'Symbols without bars'],
  ['X-As-Of-Limits', 'Fields without a history, as last imported'],
  ['X-Symbol-History', 'History of the symbol'],
  ['X-Adjust-Incomplete', 'Corporate actions that could not be applied'],
  ['X-Adjusted-By', 'Applied corporate actions that only extended=true lists'],
  ['X-Adjusted-Contracts', 'Adjusted contracts that were left out (adjusted=true includes them)'],
];

/** The message of every success. */
export const SUCCESS_MESSAGE = 'success';

/** One word alone. */
const literal = <const W extends string>(word: W): Schema<W> => ({ type: 'string', const: word });

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

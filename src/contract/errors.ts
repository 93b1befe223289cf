// The error catalogue (contract 6.3): word -> HTTP status, meaning, hint; the refusal, which carries a word
// and its facts; the envelope of an error (spec 2.1, contract 6.1, 6.2), and the headers that tell what an
// answer has otherwise than one may think.
import { integer, nothing, object, oneOf, optionalField, type Schema, type Static, text } from './fields.ts';

type ErrorEntry = { readonly status: number; readonly meaning: string; readonly hint?: string };

/** Every error word, with its status, its meaning, and a hint that helps wherever it occurs. */
export const errors = {
  bad_request: { status: 400, meaning: 'The request cannot be understood as it was sent.' },
  invalid_parameter: { status: 400, meaning: 'A parameter is missing, empty, malformed or out of bounds.' },
  invalid_page_key: {
    status: 400,
    meaning: 'The page key was changed or belongs to another query.',
    hint: 'Send the same request that gave the key, adding only next_page_key; or start again without it.',
  },
  unknown_interval: { status: 400, meaning: 'Bars are not served at this interval.' },
  missing_key: {
    status: 401,
    meaning: 'The request carries no key.',
    hint: 'Add secret_key=<API_KEY> to the query, or send Authorization: Bearer <API_KEY>.',
  },
  invalid_key: {
    status: 401,
    meaning: 'This service did not issue the key, or it was revoked or has expired.',
    hint: 'Ask whoever runs this service for a key (bourse keys create NAME).',
  },
  forbidden: { status: 403, meaning: 'The key has another scope than the endpoint needs.' },
  unknown_instrument: { status: 404, meaning: 'No dataset names this instrument.' },
  unknown_path: { status: 404, meaning: 'No endpoint has this path.' },
  no_data: { status: 404, meaning: 'Nothing matches a request that must give one record.' },
  method_not_allowed: {
    status: 405,
    meaning: 'The path does not answer this method: endpoints and pages answer GET, HEAD and OPTIONS.',
  },
  timeout: { status: 408, meaning: 'The request did not arrive in time.' },
  uri_too_long: { status: 414, meaning: 'The request address is too long.' },
  range_not_satisfiable: { status: 416, meaning: 'The Range begins after the end of the answer.' },
  rate_limited: {
    status: 429,
    meaning: 'The key has used up its quota.',
    hint: 'Try again after Retry-After seconds.',
  },
  headers_too_large: { status: 431, meaning: 'The request headers are too large.' },
  internal: { status: 500, meaning: 'The service failed; the cause is in its log under the request id.' },
  unavailable: {
    status: 503,
    meaning: 'The service cannot answer right now.',
    hint: 'Try again after Retry-After seconds.',
  },
} as const satisfies Record<string, ErrorEntry>;

/** A word of the catalogue. */
export type ErrorWord = keyof typeof errors;

/** The details of a refusal; those that do not apply are left out (contract 6.2). */
export type ErrorFacts = {
  /** The whole sentence for the caller: what was wrong and what would be right. */
  readonly message: string;
  readonly param?: string;
  /** The text that was sent, never a key; the response cuts it at 80 characters. */
  readonly got?: string;
  readonly allowed?: readonly string[] | string;
  readonly hint?: string;
};

/** The caller's mistake. Only the request handler turns it into a response. */
export class Refusal extends Error {
  readonly word: ErrorWord;
  readonly facts: ErrorFacts;

  constructor(word: ErrorWord, facts: ErrorFacts) {
    super(facts.message);
    this.name = 'Refusal';
    this.word = word;
    this.facts = facts;
  }
}

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

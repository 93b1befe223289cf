// The envelope as bytes: around a success, and an error's whole body (contract 6.1, 6.2).
import type { ErrorEnvelope } from '../../contract/envelope.ts';
import { type ErrorFacts, type ErrorWord, errors } from '../../contract/errors.ts';
import { limits } from '../../contract/limits.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** The beginning of a text, cut between characters: half a surrogate pair is no text. */
function cut(text: string): string {
  const { echoCharactersMax: max } = limits;
  const characters = Array.from(text.slice(0, max * 2));
  return characters.slice(0, max).join('').toWellFormed();
}

/** The envelope of an error; without a hint of its own it has the catalogue's. */
export function errorBody(word: ErrorWord, facts: ErrorFacts, requestId: string): ErrorEnvelope {
  const entry: { status: number; hint?: string } = errors[word];
  const hint = facts.hint ?? entry.hint;
  return {
    status: 'error',
    code: entry.status,
    message: facts.message,
    reference: null,
    result: null,
    detail: {
      error: word,
      ...(facts.param === undefined ? {} : { param: facts.param }),
      ...(facts.got === undefined ? {} : { got: cut(facts.got) }),
      ...(facts.allowed === undefined ? {} : { allowed: facts.allowed }),
      ...(hint === undefined ? {} : { hint }),
      request_id: requestId,
    },
  };
}

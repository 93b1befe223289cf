// The parameters of requests that were answered from the response cache before: reading them again is an
// eighth of such an answer.
import { SizedCache } from '../base/sized-cache.ts';
import { pageAddress } from '../queries/render/page-address.ts';
import { httpLimits } from './limits.ts';
import { mayHoldKey } from './request.ts';
import { type Match, parseRequest, type RawQuery } from './route.ts';

/**
 * The parameters of a request, and its name: everything that they say, in their order and with defaults,
 * however they were written.
 */
export type ParsedRequest = {
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly name: string;
  /** The request as it was written, without the caller's key and without ignored parameters. */
  readonly written: string;
};

/** Parsed requests by how they were written. */
export class ParsedRequests {
  readonly #kept = new SizedCache<ParsedRequest>(httpLimits.parsedBytesMax);

  /** Parses a request, unless it is kept. @throws Refusal that names the first invalid parameter */
  parse(match: Match, query: RawQuery): ParsedRequest {
    const written = writtenOf(match, query);
    const kept = this.#kept.get(written);
    if (kept !== undefined) return kept;
    const parameters = parseRequest(match, query);
    const name = JSON.stringify([pageAddress(match.route.endpoint, parameters), parameters.next_page_key]);
    return { parameters, name, written };
  }

  /** Keeps a parsed request, unless its text may hold a key. */
  keep(parsed: ParsedRequest): void {
    const { written } = parsed;
    if (!this.#kept.has(written) && !mayHoldKey(written)) this.#kept.set(written, parsed);
  }
}

/** The path and the known query parameters of a request as sent. No address holds a line break. */
function writtenOf({ route, path }: Match, query: RawQuery): string {
  let text: string = route.name;
  for (const value of path.values()) text += `\n${value}`;
  for (const [name, values] of query) if (name !== 'secret_key') text += `\n${name}=${values.join('\n')}`;
  return text;
}

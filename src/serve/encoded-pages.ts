// Built-in pages in the codings that callers take, each encoded once.
import { type Coding, codingFor, encodedBody, withEncodedBody } from './encoding.ts';
import type { HttpRequest, HttpResponse } from './message.ts';

/** The encoded bodies of pages that last as long as the process. */
export class EncodedPages {
  readonly #forms = new WeakMap<readonly Uint8Array[], Map<Coding, Promise<Uint8Array>>>();

  /** A page in the coding that its caller prefers. Its body is the same array at every request. */
  async inForm(page: HttpResponse, request: HttpRequest): Promise<HttpResponse> {
    const response = { ...page, headers: { ...page.headers, Vary: 'Accept-Encoding' } };
    const coding = codingFor(response, request);
    if (coding === null) return response;
    const forms = this.#forms.get(page.body) ?? new Map<Coding, Promise<Uint8Array>>();
    this.#forms.set(page.body, forms);
    const body = forms.get(coding) ?? Promise.resolve(encodedBody(page, coding));
    forms.set(coding, body);
    return withEncodedBody(response, coding, await body);
  }
}

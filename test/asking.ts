// Asks a server and walks its lists page by page.
import assert from 'node:assert/strict';
import type { Asking } from './local-server.ts';

/** A record as it came. */
export type Got = Readonly<Record<string, string | number | null>>;

/** A page of a list. */
export type GotPage = {
  readonly count: number;
  readonly next_page_key: string | null;
  readonly next_page_url: string | null;
  readonly data: Got[];
};

export type Parameters = Readonly<Record<string, string>>;

/** What a refusal says. */
export type GotRefusal = {
  readonly code: number;
  readonly message: string;
  readonly detail: { readonly error: string; readonly param?: string; readonly hint?: string };
};

/** A caller with a key. */
export class Caller {
  readonly #server: Asking;
  readonly #key: string;

  constructor(server: Asking, key: string) {
    this.#server = server;
    this.#key = key;
  }

  ask(path: string, parameters: Parameters = {}): Promise<Response> {
    const query = new URLSearchParams({ ...parameters, secret_key: this.#key }).toString();
    return this.#server.get(`/api/v2/${path}?${query}`);
  }

  /** The result of an answer that must be good. */
  async list(path: string, parameters: Parameters = {}): Promise<GotPage> {
    return pageOf(await this.ask(path, parameters));
  }

  /** The answer to a request that must be refused. */
  async refused(path: string, parameters: Parameters = {}): Promise<GotRefusal> {
    const response = await this.ask(path, parameters);
    const body = (await response.json()) as GotRefusal;
    assert.equal(response.status, body.code);
    assert.ok(response.status >= 400 && response.status < 500, `${response.status}`);
    return body;
  }

  /**
   * Every record of a list, by following `next_page_url`; no page is empty but an only one (contract 4.2).
   */
  async walk(
    path: string,
    parameters: Parameters,
    between: () => Promise<void> = async () => undefined,
  ): Promise<Got[]> {
    const walked: Got[] = [];
    let page = await this.list(path, parameters);
    for (;;) {
      walked.push(...page.data);
      if (page.next_page_url === null) return walked;
      assert.equal(page.next_page_key === null, false);
      assert.ok(page.next_page_url.startsWith(`${this.#server.url}/`), page.next_page_url);
      await between();
      const next = page.next_page_url.slice(this.#server.url.length);
      page = await pageOf(await this.#server.get(next));
      assert.ok(page.count > 0, 'an empty page');
    }
  }
}

async function pageOf(response: Response): Promise<GotPage> {
  const text = await response.text();
  assert.equal(response.status, 200, text.slice(0, 500));
  const { result } = JSON.parse(text) as { result: GotPage };
  assert.equal(result.count, result.data.length);
  return result;
}

// Which parameters the queries read: one that is declared and that no query reads would do nothing, in
// silence.
import type { Endpoint } from '../../src/contract/endpoint.ts';
import { dataEndpoints } from '../../src/contract/index.ts';
import type { QueryRequest } from '../../src/queries/query.ts';

/** An alias is read as what it names. */
export class ReadParameters {
  readonly #unread = new Map(
    Object.entries<Endpoint>(dataEndpoints).map(([name, { parameters }]) => [
      name,
      new Set(Object.keys(parameters).filter((one) => parameters[one]!.aliasFor === undefined)),
    ]),
  );

  /** The request, whose parameters tell that they are read. */
  watching(request: QueryRequest): QueryRequest {
    const unread = this.#unread.get(request.endpoint)!;
    const parameters = new Proxy(request.parameters, {
      get(values, name, receiver) {
        if (unread.has(String(name)) && !isOfPageKey()) unread.delete(String(name));
        return Reflect.get(values, name, receiver) as unknown;
      },
    });
    return { ...request, parameters };
  }

  /** Those that no request had read, as `endpoint: parameter`. */
  get unread(): string[] {
    return [...this.#unread].flatMap(([endpoint, names]) => [...names].map((name) => `${endpoint}: ${name}`));
  }
}

/** A page key holds every parameter that binds it, read or not. */
const isOfPageKey = (): boolean => /page-fingerprint|page-walk/.test(new Error('where').stack!);

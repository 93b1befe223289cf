// A store that the product writes into PostgreSQL: a schema of its own.
import type { Postgres } from './peers/postgres.ts';
import { BenchStore } from './workshop.ts';

/** A store in a schema. */
export class SchemaStore extends BenchStore {
  readonly #postgres: Postgres;
  readonly #schema: string;

  constructor(folder: string, postgres: Postgres, schema: string) {
    super(folder, `${postgres.url}?schema=${schema}`);
    this.#postgres = postgres;
    this.#schema = schema;
  }

  /** Bytes of its tables and indexes on disk. */
  get bytes(): Promise<number> {
    const sizes = `select sum(pg_total_relation_size(oid)) from pg_class where relkind = 'r' and relnamespace = '${this.#schema}'::regnamespace`;
    return this.#postgres.sql(sizes).then(Number);
  }

  async remove(): Promise<void> {
    await this.#postgres.sql(
      'set client_min_messages = warning',
      `drop schema if exists ${this.#schema} cascade`,
    );
  }
}

// How PostgreSQL reads large lists: the plans of the statements by which a service reads them, with their
// values.
import pg from 'pg';
import { settingsOf } from '../../src/store/postgres/connection.ts';
import { SentArray, Session } from '../../src/store/postgres/session.ts';
import { askForLists, isOptionSearch, largeTables, listening } from '../list-plans.ts';
import type { Plans } from '../sqlite/plans.ts';

type Asked = { readonly sql: string; readonly values: readonly unknown[] };

/** A value as the driver takes it: an array in its binary form. */
function sent(value: unknown): unknown {
  if (!(value instanceof SentArray)) return value;
  const bytes = Buffer.alloc(value.byteLength);
  value.write(bytes, 0);
  return bytes;
}

/** A step of a plan (postgresql.org/docs/15/sql-explain.html). */
type Step = {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  /** With `analyze`. */
  readonly 'Actual Rows'?: number;
  readonly Plans?: readonly Step[];
};

const stepsOf = (step: Step): Step[] => [step, ...(step.Plans ?? []).flatMap(stepsOf)];

const isLarge = (step: Step): boolean => largeTables.some((table) => table === step['Relation Name']);

/** What of a plan is no walk of an index. */
function problemsOf(sql: string, plan: Step): string[] {
  return stepsOf(plan)
    .filter((step) => {
      const type = step['Node Type'];
      if (/Sort/.test(type)) return !isOptionSearch(sql) && stepsOf(step).some(isLarge);
      return isLarge(step) && !/^Index (?:Only )?Scan$/.test(type);
    })
    .map((step) => `${step['Node Type']} ${step['Relation Name'] ?? ''}`);
}

/**
 * The statements that `work` asks a store in the default schema, each with its plan; with `analyze` they are
 * executed for that.
 */
async function plansOf(
  url: string,
  isRead: (sql: string) => boolean,
  work: () => Promise<void>,
  form = 'format json',
): Promise<(Asked & { readonly plan: Step })[]> {
  // A busy machine may take its time.
  const settings = Object.entries({ search_path: 'bourse', ...settingsOf.serve.set, statement_timeout: 0 });
  const options = settings.map(([name, value]) => `-c ${name}=${value}`).join(' ');
  const client = new pg.Client({ connectionString: url, options });
  await client.connect();
  try {
    // As autovacuum does soon after an import.
    await client.query('analyze');
    const asked = new Map<string, Asked>();
    const note = ([sql, given = []]: readonly unknown[]): void => {
      const values = (given as unknown[]).map(sent);
      asked.set(JSON.stringify([sql, values]), { sql: sql as string, values });
    };
    await listening(Session.prototype, 'ask', note, work);
    const planned: (Asked & { readonly plan: Step })[] = [];
    for (const one of [...asked.values()].filter(({ sql }) => isRead(sql))) {
      const { rows } = await client.query(`explain (${form}) ${one.sql}`, [...one.values]);
      const [
        {
          'QUERY PLAN': [{ Plan: plan }],
        },
      ] = rows as [{ 'QUERY PLAN': [{ Plan: Step }] }];
      planned.push({ ...one, plan });
    }
    return planned;
  } finally {
    await client.end();
  }
}

/** Asks a store in the default schema for every list. */
export async function postgresPlans(url: string): Promise<Plans> {
  const isRead = (sql: string): boolean =>
    /^(?:select|with)\b/.test(sql) && largeTables.some((table) => sql.includes(`"${table}"`));
  const planned = await plansOf(url, isRead, () => askForLists(url));
  const problems = planned.flatMap(({ sql, values, plan }) =>
    problemsOf(sql, plan).map((problem) => `${problem}: ${sql} ${values.join()}`),
  );
  return { statements: planned.length, problems };
}

/**
 * The most rows that a step of a read of blocks gives, for each of these that `work` does on a store in the
 * default schema.
 */
export async function blockRows(url: string, work: () => Promise<void>): Promise<number[]> {
  const isRead = (sql: string): boolean => sql.includes('from bar_blocks where series_id');
  const planned = await plansOf(url, isRead, work, 'analyze, format json');
  return planned.map(({ plan }) => Math.max(...stepsOf(plan).map((step) => step['Actual Rows'] ?? 0)));
}

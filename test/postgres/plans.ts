// How PostgreSQL reads large lists: the plans of the statements by which a service reads them, with their values.
import pg from 'pg';
import { Session } from '../../src/store/postgres/session.ts';
import { settingsOf } from '../../src/store/postgres/settings.ts';
import { askForLists, isOptionSearch, largeTables, listening } from '../list-plans.ts';
import type { Plans } from '../sqlite/plans.ts';

type Asked = { readonly sql: string; readonly values: readonly unknown[] };

/** A step of a plan (postgresql.org/docs/15/sql-explain.html). */
type Step = {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
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

/** Asks a store in the default schema for every list. */
export async function postgresPlans(url: string): Promise<Plans> {
  const settings = Object.entries({ search_path: 'bourse', ...settingsOf.serve.set });
  const options = settings.map(([name, value]) => `-c ${name}=${value}`).join(' ');
  const client = new pg.Client({ connectionString: url, options });
  await client.connect();
  try {
    // As autovacuum does soon after an import.
    await client.query('analyze');
    const asked = new Map<string, Asked>();
    const note = ([sql, values = []]: readonly unknown[]): void =>
      void asked.set(JSON.stringify([sql, values]), { sql: sql as string, values: values as unknown[] });
    await listening(Session.prototype, 'ask', note, () => askForLists(url));
    const reads = [...asked.values()].filter(
      ({ sql }) => /^(?:select|with)\b/.test(sql) && largeTables.some((table) => sql.includes(`"${table}"`)),
    );
    const problems: string[] = [];
    for (const { sql, values } of reads) {
      const { rows } = await client.query(`explain (format json) ${sql}`, [...values]);
      const [
        {
          'QUERY PLAN': [{ Plan: plan }],
        },
      ] = rows as [{ 'QUERY PLAN': [{ Plan: Step }] }];
      problems.push(...problemsOf(sql, plan).map((problem) => `${problem}: ${sql} ${values.join()}`));
    }
    return { statements: reads.length, problems };
  } finally {
    await client.end();
  }
}

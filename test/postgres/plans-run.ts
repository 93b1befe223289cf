// `npm run plans`: how both engines read lists of a million rows. --rows N takes others.
import { parseArgs } from 'node:util';
import { fillLists } from '../list-plans.ts';
import { fileStore } from '../sqlite/files.ts';
import { sqlitePlans } from '../sqlite/plans.ts';
import { TestFolder } from '../stores.ts';
import { postgresPlans } from './plans.ts';
import { startPostgres } from './server.ts';

const { values } = parseArgs({ options: { rows: { type: 'string', default: '1000000' } } });
const temporary = new TestFolder();
const server = await startPostgres();
try {
  for (const [engine, url, plansOf] of [
    ['SQLite', fileStore(temporary.path('lists.db')), sqlitePlans],
    ['PostgreSQL', server.url, postgresPlans],
  ] as const) {
    await fillLists(url, temporary.folder, Number(values.rows));
    const { statements, problems } = await plansOf(url);
    console.log(
      `${engine}: ${values.rows} rows, ${statements} statements, ${problems.length} no walk of an index`,
    );
    for (const problem of problems) console.log(`  ${problem}`);
    if (problems.length > 0) process.exitCode = 1;
  }
} finally {
  await server.stop();
  temporary.close();
}

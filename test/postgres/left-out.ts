// After `npm test`: says what it left out where PostgreSQL is not installed.
import { postgresPrograms } from './server.ts';

if (postgresPrograms() === null)
  console.log(
    'left out: the tests of PostgreSQL, which is not installed here (apt-get install postgresql-15). ' +
      'They are skipped in src/store/postgres and test/postgres/commands.test.ts.',
  );

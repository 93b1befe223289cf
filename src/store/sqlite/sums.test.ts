// The sums of groups beside a table: which groups differ from theirs, in time that grows with the table
// (docs/decisions/0027).
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { Random } from '../../../test/fuzz/random.ts';
import { ROW_CHECK } from '../checked-rows.ts';
import { storeLimits } from '../limits.ts';
import { differingGroups } from './sums.ts';

type Sums = { rows: number; checks: number };

/** A table of groups with an integer and a text, and the sums beside it, which a test may spoil. */
function tableOf(rows: readonly (readonly [id: number, name: string, check: number])[]) {
  const database = new DatabaseSync(':memory:');
  database.exec(`create table t (id integer, name text, ${ROW_CHECK} integer);
    create table t_sums (id, name, rows integer not null, checks integer not null, primary key (id, name)) without rowid`);
  const insert = database.prepare('insert into t values (?, ?, ?)');
  for (const row of rows) insert.run(...row);
  database.exec(`insert into t_sums select id, name, count(*), sum(${ROW_CHECK}) from t group by id, name`);
  return database;
}

const found = (database: DatabaseSync): string[] =>
  (database.prepare(differingGroups('t', ['id', 'name'])).all() as Record<string, string>[])
    .map((row) => Object.values(row).join(' '))
    .sort();

test('groups are found whose sums differ, or that one side lacks, and no others', () => {
  const random = new Random(20261123, 1);
  for (let round = 0; round < 200; round++) {
    const rows = Array.from({ length: 200 }, () => {
      return [random.below(20), `n${random.below(3)}`, random.below(2 ** 32)] as const;
    });
    const database = tableOf(rows);
    assert.deepEqual(found(database), []);
    const expected = new Set<string>();
    for (let spoiled = random.below(storeLimits.findingsPerTableMax); spoiled > 0; spoiled--) {
      const [id, name] = rows[random.below(rows.length)]!;
      if (expected.has(`${id} ${name}`)) continue;
      expected.add(`${id} ${name}`);
      const kept = database
        .prepare('select rows, checks from t_sums where id = ? and name = ?')
        .get(id, name) as Sums;
      if (random.below(3) === 0)
        database.prepare('delete from t_sums where id = ? and name = ?').run(id, name);
      else if (random.below(2) === 0)
        database.prepare('delete from t where id = ? and name = ?').run(id, name);
      else
        database
          .prepare('update t_sums set rows = ?, checks = ? where id = ? and name = ?')
          .run(kept.rows + random.below(2), kept.checks + 1, id, name);
    }
    assert.deepEqual(found(database), [...expected].sort());
    database.close();
  }
});

test('each side is gone through once: no group is looked up among all others', () => {
  const database = tableOf([[1, 'a', 2]]);
  const plan = database.prepare(`explain query plan ${differingGroups('t', ['id', 'name'])}`).all() as {
    detail: string;
  }[];
  const reads = plan.flatMap(({ detail }) => /^(?:SCAN|SEARCH) (t\w*)/.exec(detail)?.[1] ?? []);
  assert.deepEqual(reads, ['t', 't_sums']);
  assert.ok(!plan.some(({ detail }) => detail.includes('JOIN')), JSON.stringify(plan));
});

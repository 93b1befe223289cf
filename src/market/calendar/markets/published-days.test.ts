// Closed and shortened days of 2024 to 2026 of every market in the shared file, with their instants (contract
// 3.4).
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { formatDay, weekdayOf } from '../../../base/instant.ts';
import { calendarOf } from '../calendar.ts';
import { dayOfText } from '../rules.ts';

type Published = { readonly kind: string; readonly openUtc: string; readonly closeUtc: string };

const file = join(import.meta.dirname, '../../../../../shared/data/calendars/holidays_2024_2026.csv');
const published = new Map<string, Map<string, Published>>();
for (const line of existsSync(file) ? readFileSync(file, 'utf8').trim().split(/\r?\n/).slice(1) : []) {
  const row = /^([A-Z]{2}),[A-Z]{4},([\d-]{10}),\w+,(\w+),.*,\w+,([^,]*),([^,]*)$/.exec(line);
  assert.ok(row !== null, `not read: ${line}`);
  const [, country, date, kind, openUtc, closeUtc] = row as unknown as string[];
  const days = published.get(country!) ?? new Map<string, Published>();
  published.set(country!, days.set(date!, { kind: kind!, openUtc: openUtc!, closeUtc: closeUtc! }));
}

test('the shared calendars are there', (t) => {
  if (published.size === 0) t.skip(`no file ${file}`);
});

for (const [country, days] of published) {
  test(`${country} from 2024 to 2026 equals its published calendar, with its hours (contract 3.4)`, () => {
    const calendar = calendarOf('stock', country);
    const [from, to] = [dayOfText('2024-01-01'), dayOfText('2027-01-01')];
    const sessions = new Map(calendar.sessions(from, to).map((session) => [session.day, session]));
    for (let day = from; day < to; day++) {
      const date = formatDay(day);
      const session = sessions.get(day);
      const expected = days.get(date);
      if (weekdayOf(day) > 5 || expected?.kind === 'closed') assert.equal(session, undefined, date);
      else if (expected === undefined) assert.equal(session?.template, 'REGULAR', date);
      else {
        assert.equal(session?.template.toLowerCase(), expected.kind, date);
        assert.equal(session?.openMs, Date.parse(expected.openUtc), date);
        assert.equal(session?.closeMs, Date.parse(expected.closeUtc), date);
      }
    }
  });
}

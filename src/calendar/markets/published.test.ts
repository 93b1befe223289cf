// Every stock market against the published calendars of 2024 to 2026: days, kinds, hours (contract 3.4).
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { formatDay, weekdayOf } from '../../base/instant.ts';
import { calendarOf } from '../calendar.ts';
import { dayOfText } from '../rules.ts';
import { markets } from './index.ts';

const file = join(import.meta.dirname, '../../../../shared/data/calendars/holidays_2024_2026.csv');

type Published = { readonly kind: string; readonly openUtc: string; readonly closeUtc: string };

function publishedFor(country: string): Map<string, Published> {
  const published = new Map<string, Published>();
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (!line.startsWith(`${country},`)) continue;
    const found = /^\w+,\w+,([\d-]{10}),\w+,(\w+),.*,source,([^,]*),([^,]*?)\r?$/.exec(line);
    if (found === null) assert.fail(`not read: ${line}`);
    published.set(found[1]!, { kind: found[2]!, openUtc: found[3]!, closeUtc: found[4]! });
  }
  return published;
}

for (const { key, country } of markets.filter(({ assetSchema }) => assetSchema === 'stock')) {
  test(`closed and shortened days of ${key} from 2024 to 2026 equal the published calendar, with their hours (contract 3.4)`, (t) => {
    if (!existsSync(file)) {
      t.skip(`no file ${file}`);
      return;
    }
    const calendar = calendarOf('stock', country);
    const published = publishedFor(country);
    assert.ok(published.size > 20, 'the file lists the days');
    for (let day = dayOfText('2024-01-01'); day <= dayOfText('2026-12-31'); day++) {
      const date = formatDay(day);
      const [session] = calendar.sessions(day, day + 1);
      const expected = published.get(date);
      if (weekdayOf(day) > 5 || expected?.kind === 'closed') assert.equal(session, undefined, date);
      else if (expected === undefined) assert.equal(session?.template, 'REGULAR', date);
      else {
        assert.equal(session?.template.toLowerCase(), expected.kind, date);
        assert.deepEqual(
          [session!.openMs, session!.closeMs],
          [Date.parse(expected.openUtc), Date.parse(expected.closeUtc)],
          date,
        );
      }
    }
  });
}

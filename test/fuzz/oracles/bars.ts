// Bars (contract 3.11, 9.5): which ones is for tests of their own.
import assert from 'node:assert/strict';
import type { Texts } from '../answers.ts';
import type { Good } from '../expect.ts';
import { judgeRange, lowerAscii, nameOf } from '../grammar.ts';
import {
  haveColumns,
  isDescending,
  known,
  msOf,
  named,
  type Oracle,
  rangeFaults,
  unknownFaults,
  unless,
} from './common.ts';

const checkBars =
  (texts: Texts) =>
  ({ groups: [records] }: Good): void => {
    const [type, country, symbol] = nameOf(texts).toUpperCase().split(':');
    const hasLabel = ['true', '1', 'yes'].includes(lowerAscii(texts.session_date ?? 'false'));
    const first = records![0];
    if (first === undefined || haveColumns(texts, records!)) return;
    assert.deepEqual([first.asset_schema, first.country_iso_code, first.symbol], [type, country, symbol]);
    const opens = records!.map((record) => msOf(record.datetime, texts));
    for (const record of records!) assert.equal('session_date' in record, hasLabel);
    const sorted = [...new Set(opens)].sort((a, b) => a - b);
    assert.deepEqual(opens, isDescending(texts) ? sorted.reverse() : sorted);
  };

/** `GET /…/bars/…/…/from/…/to/…` */
export const historicalBars: Oracle = (texts) => {
  const order = judgeRange(texts.from_date!, texts.to_date!);
  return {
    mistakes: unless(order !== 'wrong', ...rangeFaults),
    faults: [...unknownFaults(nameOf(texts), 'country_symbol'), ...unless(order !== 'open', ...rangeFaults)],
    mayBeGood: known.has(nameOf(texts).toUpperCase()) && order === 'open',
    check: checkBars(texts),
  };
};

/** `GET /…/bars/…/…/latest` */
export const latestBars: Oracle = (texts) => named(texts, { check: checkBars(texts) });

/** `GET /…/bars/latest` */
export const latestOfMany: Oracle = (texts) => ({
  faults: [],
  check: ({ groups: [records] }) => {
    if (haveColumns(texts, records!)) return;
    const asked = texts.symbols!.split(',').map((symbol) => {
      const [type, ...name] = nameOf({ schema_asset: texts.schema_asset!, country_symbol: symbol }).split(
        ':',
      );
      return [type, ...name].join(':').toUpperCase();
    });
    const places = records!.map(({ asset_schema, country_iso_code, symbol, datetime }) => ({
      at: asked.indexOf([asset_schema, country_iso_code, symbol].join(':')),
      ms: msOf(datetime, texts),
    }));
    // A symbol may be an alias.
    if (places.some(({ at }) => at < 0)) return;
    const sorted = places.toSorted((a, b) => a.at - b.at || a.ms - b.ms);
    assert.deepEqual(places, sorted, 'by symbol as asked, then time');
  },
});

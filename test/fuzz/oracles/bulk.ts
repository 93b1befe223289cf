// Bars in bulk (contract 9.11): whose they are, and in which order. That they are those of pages:
// test/bulk-random.test.ts.
import assert from 'node:assert/strict';
import type { Texts } from '../answers.ts';
import type { Expectation, Good } from '../expect.ts';
import { countryOf, dayOf, intervalOf, judgeRange, lowerAscii, type Verdict } from '../grammar.ts';
import { haveColumns, known, msOf, type Oracle, rangeFaults, unless } from './common.ts';

const DAY_MS = 86_400_000;

/** The bounds of docs/using/bulk.md, in symbols times days. */
const SYMBOL_DAYS = 400_000;
const MARKET_DAYS = 40;
const PERIOD_FACTOR = 100;

const market = ({ schema_asset, country_iso_code }: Texts): string =>
  `${schema_asset!.toUpperCase()}:${countryOf(country_iso_code!)}`;

/** The symbols that a request names, each once, in capitals; null for a whole market. */
const namedBy = ({ symbols }: Texts): readonly string[] | null =>
  symbols === undefined ? null : [...new Set(symbols.toUpperCase().split(','))];

/**
 * Whether a request is as small as it must be; `open` where only the market's hours tell on which day an
 * instant is.
 */
function judgeSize(texts: Texts): Verdict {
  const { from_date: from, to_date: to, interval } = texts;
  const days = (Date.parse(dayOf(to!)) - Date.parse(dayOf(from!))) / DAY_MS + 1;
  const count = namedBy(texts)?.length;
  const max =
    (count === undefined ? MARKET_DAYS : Math.floor(SYMBOL_DAYS / count)) *
    (['DAY', 'WEEK', 'MON'].includes(intervalOf(interval!)!) ? PERIOD_FACTOR : 1);
  const slack = from!.length === 10 && to!.length === 10 ? 0 : 2;
  if (days + slack <= max) return 'right';
  return days - slack > max ? 'wrong' : 'open';
}

const checkBars =
  (texts: Texts) =>
  ({ groups: [records] }: Good): void => {
    const hasLabel = ['true', '1', 'yes'].includes(lowerAscii(texts.session_date ?? 'false'));
    if (haveColumns(texts, records!)) return;
    const symbols = namedBy(texts);
    const places = records!.map((record) => {
      const { asset_schema, country_iso_code, symbol, datetime } = record;
      assert.equal([asset_schema, country_iso_code].join(':'), market(texts));
      assert.ok(symbols === null || symbols.includes(String(symbol)), 'a symbol that was asked for');
      assert.equal('session_date' in record, hasLabel);
      return [symbol, new Date(msOf(datetime, texts)).toISOString()].join('\n');
    });
    assert.deepEqual(places, [...new Set(places)].sort(), 'by symbol, then time, none twice');
  };

/** `GET /…/bulk/bars/…` */
export const bulkBars: Oracle = (texts): Expectation => {
  const order = judgeRange(texts.from_date!, texts.to_date!);
  const size = judgeSize(texts);
  const tooLarge = ['invalid_parameter to_date'];
  const unknown = (namedBy(texts) ?? []).filter((symbol) => !known.has(`${market(texts)}:${symbol}`));
  const ofData = unless(unknown.length === 0, 'unknown_instrument symbols');
  const isOpen = order === 'open' || size === 'open';
  return {
    mistakes: [...unless(order !== 'wrong', ...rangeFaults), ...unless(size !== 'wrong', ...tooLarge)],
    faults: [...ofData, ...unless(order !== 'open', ...rangeFaults), ...unless(size !== 'open', ...tooLarge)],
    mayBeGood: isOpen && ofData.length === 0,
    check: checkBars(texts),
  };
};

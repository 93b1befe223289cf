// Synthetic rows beside the demo's bars: dividends, splits and news up to now, and some that are still to come. Nothing of them has happened.
import { DAY_MS, HOUR_MS } from '../base/instant.ts';
import { corporateActions } from '../datasets/corporate-actions.ts';
import type { Dataset, RowOf } from '../datasets/dataset.ts';
import { news } from '../datasets/news.ts';
import { changeRow } from '../history/journal.ts';
import { corporateActionRowOf } from '../loading/corporate-actions.ts';
import { newsRowOf } from '../loading/news.ts';
import type { Writer } from '../store/store.ts';

const DIVIDEND_EVERY_DAYS = 91;
const NEWS_DAYS = 30;

/** Quarterly dividends of two years and the next one, and a split from before the bars. */
function actionsOf(symbol: string, cash: number, today: number): RowOf<typeof corporateActions>[] {
  const name = { country_iso_code: 'US', symbol };
  const split = { action_type: 'split', ex_date: today - 900, split_from: 1, split_to: 4 };
  const dividends = Array.from({ length: 9 }, (_, index) => {
    const exDate = today + 21 - index * DIVIDEND_EVERY_DAYS;
    const dates = {
      ex_date: exDate,
      record_date: exDate,
      pay_date: exDate + 7,
      declaration_date: exDate - 30,
    };
    return { action_type: 'dividend', cash_amount: cash, currency: 'USD', ...dates };
  });
  return [split, ...dividends].map((values) => corporateActionRowOf({ ...name, ...values }));
}

const moods = [
  ['positive', 0.6, 'rises'],
  ['neutral', 0, 'moves little'],
  ['negative', -0.4, 'falls'],
] as const;

/** What an item is about: an instrument by its asset type, country and symbol. */
type Subject = readonly [assetName: string, country: string, symbol: string];

const subjects: readonly Subject[] = [
  ['stock', 'US', 'AAPL'],
  ['stock', 'US', 'MSFT'],
  ['stock', 'US', 'SPY'],
  ['crypto', 'GLOBAL', 'BTCUSD'],
  ['forex', 'GLOBAL', 'EURUSD'],
];

function itemOf([assetName, country, symbol]: Subject, day: number, place: number): RowOf<typeof news> {
  const [label, score, verb] = moods[(day + place) % moods.length]!;
  return newsRowOf({
    published_date: day * DAY_MS + (13 + place) * HOUR_MS,
    title: `Synthetic: ${symbol} ${verb}`,
    publisher_url: `https://example.com/bourse-demo/${symbol}/${day}`,
    asset_name: assetName,
    country_iso_code: country,
    symbol,
    sentiment_label: label,
    sentiment_score: score,
    publisher: 'Bourse demo',
    text_content: `Made by bourse demo to have something to show: nothing of this has happened to ${symbol}.`,
  });
}

async function write<D extends Dataset>(
  writer: Writer,
  runId: number,
  dataset: D,
  rows: readonly RowOf<D>[],
): Promise<void> {
  for (const row of rows) await changeRow(writer, runId, dataset, null, row);
}

/** Writes the rows of an empty store, as they are on `today`. */
export async function writeDemoRows(writer: Writer, runId: number, today: number): Promise<void> {
  const actions = [...actionsOf('AAPL', 0.26, today), ...actionsOf('MSFT', 0.83, today)];
  await write(writer, runId, corporateActions, actions);
  const items = Array.from({ length: NEWS_DAYS }, (_, index) =>
    subjects.map((subject, place) => itemOf(subject, today - 1 - index, place)),
  );
  await write(writer, runId, news, items.flat());
}

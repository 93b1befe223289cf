// Names the other instruments that had a symbol within a range: an answer is about one instrument (contract
// 9.6).
import { formatDay } from '../base/instant.ts';
import type { AssetSchema, CountrySymbol } from '../contract/identifiers.ts';
import type { FormerBearer } from '../store/instrument-terms.ts';
import { formerOf } from './known-instrument.ts';
import { queryLimits } from './limits.ts';
import { type DayRange, hadWithin } from './lookup.ts';
import type { Answer, QueryContext } from './query.ts';

/** What was asked for: a symbol on some days. */
type Asked = CountrySymbol & { readonly assetSchema: AssetSchema; readonly days: DayRange };

const termOf = ({ symbol, fromDay, toDay }: FormerBearer): string =>
  `${symbol} from ${formatDay(fromDay)} to ${formatDay(toDay)}`;

/**
 * The answer with `X-Symbol-History` where former bearers of the symbol had it on some days of the range and
 * none on all of them: their present symbols and dates, the latest first, and the symbol `answered` of the
 * instrument that the answer has.
 */
export async function tellingHistory(
  context: QueryContext,
  { assetSchema, days, ...named }: Asked,
  answered: string,
  answer: Answer,
): Promise<Answer> {
  if (answer.kind === 'refusal') return answer;
  const former = await formerOf(context, assetSchema, named);
  // An instrument may have its old symbol again.
  const others = former.filter(({ symbol }) => symbol !== named.symbol);
  const some = others.filter((one) => hadWithin(one, days) !== 'none');
  if (some.length === 0 || some.some((one) => hadWithin(one, days) === 'all')) return answer;
  const told = some.slice(0, queryLimits.formerBearersMax).map(termOf).join(', ');
  const history = `${named.symbol} was ${told}; this answer has ${answered}`;
  return { ...answer, headers: { ...answer.headers, 'X-Symbol-History': history } };
}

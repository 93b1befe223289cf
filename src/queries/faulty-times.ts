// When the stored series of an instrument have errors or warnings (contract 9.9, 9.10).
import { firstWhere } from '../base/search.ts';
import type { Interval } from '../contract/interval.ts';
import type { Finding } from './findings/finding.ts';
import { keptFindings } from './findings.ts';
import type { Found } from './lookup.ts';
import type { QueryContext } from './query.ts';

/** `[fromMs, toMs)`. */
type Span = Pick<Finding, 'fromMs' | 'toMs'>;

/** Spans in ascending order of their beginnings, as few as cover the same time. */
function joined(spans: Iterable<Span>): Span[] {
  const found: Span[] = [];
  for (const { fromMs, toMs } of spans) {
    const last = found.at(-1);
    if (last === undefined || fromMs > last.toMs) found.push({ fromMs, toMs });
    else found[found.length - 1] = { fromMs: last.fromMs, toMs: Math.max(last.toMs, toMs) };
  }
  return found;
}

/** The kinds of findings about sessions without a bar. */
const withoutBars: ReadonlySet<string> = new Set(['missing_session', 'identity_break']);

/**
 * Tells whether a finding about the stored series of an interval lies in some time: an error or a warning
 * (`degraded`), or one about missing bars. It is kept as findings are, and apart from them: a series with a
 * finding in every session has too many to look at for each session of a page. @throws TooDear
 */
export async function faultyTimes(
  context: QueryContext,
  found: Found,
  interval: Interval,
  sort: 'degraded' | 'missing',
): Promise<(time: Span) => boolean> {
  const isOfSort = ({ kind, severity }: Finding): boolean =>
    sort === 'missing' ? withoutBars.has(kind) : severity !== 'info';
  const spans = await keptFindings(context, found, `${sort} ${interval}`, (all) =>
    joined(all.filter((one) => one.interval === interval && isOfSort(one))),
  );
  return ({ fromMs, toMs }) => {
    const span = spans[firstWhere(spans.length, (at) => spans[at]!.toMs > fromMs)];
    return span !== undefined && span.fromMs < toMs;
  };
}

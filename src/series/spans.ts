// Stretches of time, half-open: what is left of them, and what they are together.

/** `[fromMs, toMs)`. */
export type Span = { readonly fromMs: number; readonly toMs: number };

/** The rest of some spans, ascending and apart, outside another one. */
const without = (spans: readonly Span[], { fromMs, toMs }: Span): Span[] =>
  spans.flatMap((span) => {
    if (span.toMs <= fromMs || span.fromMs >= toMs) return [span];
    return [
      { fromMs: span.fromMs, toMs: Math.min(span.toMs, fromMs) },
      { fromMs: Math.max(span.fromMs, toMs), toMs: span.toMs },
    ].filter((rest) => rest.fromMs < rest.toMs);
  });

/** The rest of some spans, ascending and apart, that no other spans cover. */
export const lacking = (spans: readonly Span[], others: readonly Span[]): Span[] =>
  others.reduce<Span[]>(without, [...spans]);

/**
 * Spans in any order as ascending ones that are apart: two are one where `isNothing` says that nothing is
 * between them.
 */
export function united(spans: readonly Span[], isNothing: (fromMs: number, toMs: number) => boolean): Span[] {
  const apart: Span[] = [];
  for (const span of [...spans].sort((a, b) => a.fromMs - b.fromMs)) {
    const last = apart.at(-1);
    if (last === undefined || (span.fromMs > last.toMs && !isNothing(last.toMs, span.fromMs)))
      apart.push(span);
    else if (span.toMs > last.toMs) apart[apart.length - 1] = { ...last, toMs: span.toMs };
  }
  return apart;
}

// Something in steps, and what is left of it.

/**
 * Something in steps; null at the end. A step has at least `atLeast` bars, or fewer where more steps follow.
 */
export type Stream<Step> = { next(atLeast: number): Promise<Step | null> };

/** One stream after the other. */
export function sequence<Step>(streams: readonly Stream<Step>[]): Stream<Step> {
  let at = 0;
  return {
    async next(atLeast) {
      while (at < streams.length) {
        const step = await streams[at]!.next(atLeast);
        if (step !== null) return step;
        at++;
      }
      return null;
    },
  };
}

/**
 * Each step changed; those of which nothing is left are skipped. Steps of up to `skippedMax` grow over what
 * is skipped: more of it may follow.
 */
export const mapped = <From, To>(
  stream: Stream<From>,
  change: (step: From) => Promise<To | null> | To | null,
  skippedMax = 0,
): Stream<To> => ({
  async next(atLeast) {
    for (let wanted = atLeast; ; wanted = Math.max(wanted, Math.min(2 * wanted, skippedMax))) {
      const step = await stream.next(wanted);
      if (step === null) return null;
      const changed = await change(step);
      if (changed !== null) return changed;
    }
  },
});

// The headers of adjusted bars: actions that could not be applied, and applied actions that the default list leaves out (contract 8.2, 8.10).
import { queryLimits } from './limits.ts';
import type { Adjusted, Answer } from './query.ts';

/** The first names, and how many more there are. */
function listOf(names: ReadonlySet<string>): string {
  const max = queryLimits.actionsNamedMax;
  const shown = [...names].slice(0, max).join(', ');
  return names.size > max ? `${shown}, and ${names.size - max} more` : shown;
}

/** The answer with `X-Adjust-Incomplete` and `X-Adjusted-By`, where there is something to tell. */
export const tellingAdjusted = <A extends Answer & { kind: 'answer' }>(
  answer: A,
  { incomplete, unlisted }: Adjusted,
): A => ({
  ...answer,
  headers: {
    ...answer.headers,
    ...(incomplete.size > 0 && { 'X-Adjust-Incomplete': listOf(incomplete) }),
    ...(unlisted.size > 0 && { 'X-Adjusted-By': listOf(unlisted) }),
  },
});

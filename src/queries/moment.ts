// As of which moment a request is answered: its own, that of its page key, or that of its caller's key
// (contract 9.8).
import { formatInstantZ } from '../base/instant.ts';
import { Refusal } from '../contract/errors.ts';
import type { AssetSchema } from '../contract/identifiers.ts';
import { calendarOf } from '../market/calendar/calendar.ts';
import { always, type KnownMoment } from '../store/schema/dataset.ts';
import { claimedMoment, foreignKey } from './page-key.ts';
import type { Answer, QueryContext, QueryRequest } from './query.ts';

function tooLate(param: string, asked: number, latest: string, hint: string): Refusal {
  return new Refusal('invalid_parameter', {
    message: `${param} is after ${latest}.`,
    param,
    got: formatInstantZ(asked),
    allowed: `moments up to ${latest}`,
    hint,
  });
}

/**
 * The moment of the first page of a walk, or of a request without pages. @throws Refusal for one that the
 * caller may not ask for
 */
function askedMoment(asked: number | undefined, pinnedMs: number | undefined, nowMs: number) {
  if (asked === undefined) return pinnedMs;
  if (asked > nowMs) throw tooLate('as_of', asked, 'now', 'Leave as_of out to ask for what is known now.');
  if (pinnedMs !== undefined && asked > pinnedMs) {
    const instant = formatInstantZ(pinnedMs);
    const hint = `The operator can move the key on: bourse keys move ID --as-of ${formatInstantZ(asked)}`;
    throw tooLate('as_of', asked, `${instant}, the instant that your key is pinned to`, hint);
  }
  return asked;
}

/** The refusal of a walk that sees more than the caller's key may. */
function laterWalk(key: string, pinnedMs: number): Refusal {
  return new Refusal('invalid_page_key', {
    message: `next_page_key is of a walk that was begun later than ${formatInstantZ(pinnedMs)}, the instant that your key is pinned to.`,
    param: 'next_page_key',
    got: key,
    hint: 'Begin the walk again, without next_page_key.',
  });
}

const momentAt = (ms: number): KnownMoment => ({
  ms,
  dayIn: (assetSchema, country) => calendarOf(assetSchema as AssetSchema, country).zone.dayAt(ms),
});

/**
 * The moment as of which a request is answered; `always` where it has none. A walk stays at the moment of its
 * first page.
 * @throws Refusal for a moment after now, or after the one that the caller's key is pinned to
 */
export function momentOf({ parameters, pinnedMs, nowMs }: QueryRequest): KnownMoment {
  const asked = parameters.as_of as number | undefined;
  const key = parameters.next_page_key as string | undefined;
  if (asked === undefined && pinnedMs === undefined && !key) return always;
  let ms = askedMoment(asked, pinnedMs, nowMs);
  if (key) {
    const walkMs = claimedMoment(key);
    if (asked !== undefined && walkMs !== asked) throw foreignKey(key);
    if (pinnedMs !== undefined && (walkMs === undefined || walkMs > pinnedMs)) throw laterWalk(key, pinnedMs);
    ms = walkMs;
  }
  return ms === undefined ? always : momentAt(ms);
}

/** The answer with its moment and what the data do not date; as it is where it has no moment. */
export function tellingMoment<A extends Answer & { kind: 'answer' }>(
  answer: A,
  { moment, undated }: Pick<QueryContext, 'moment' | 'undated'>,
): A {
  if (moment === always) return answer;
  const limits = undated.size === 0 ? {} : { 'X-As-Of-Limits': [...undated].join(', ') };
  return { ...answer, headers: { ...answer.headers, 'X-As-Of': formatInstantZ(moment.ms), ...limits } };
}

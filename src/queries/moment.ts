// As of which moment and from which version of the stored data a request is answered: its own, that of its
// page key, or that of its caller's key (contract 9.8, 9.12).
import { formatInstantZ } from '../base/instant.ts';
import { SizedCache } from '../base/sized-cache.ts';
import { Refusal } from '../contract/errors.ts';
import type { AssetSchema } from '../contract/identifiers.ts';
import { calendarOf } from '../market/calendar/calendar.ts';
import { PastReader } from '../store/past/past-reader.ts';
import { type FoundFormer, PastState, type Unreadable, UnreadableVersion } from '../store/past/past-state.ts';
import { always, type KnownMoment } from '../store/schema/dataset.ts';
import type { Reader } from '../store/store.ts';
import { queryLimits } from './limits.ts';
import { Lookup } from './lookup.ts';
import { claimedMoment, foreignKey } from './pages/page-key.ts';
import { type Answer, type LaneBounds, type QueryContext, type QueryRequest, TooDear } from './query.ts';

/** The problem of a version that cannot be read, and the versions that can. */
function problemOf(reason: Unreadable): { readonly message: string; readonly allowed: string } {
  switch (reason.why) {
    case 'later':
      return {
        message: `data_version is after ${reason.version}, the newest version of the stored data.`,
        allowed: `versions up to ${reason.version}`,
      };
    case 'earlier':
      return {
        message: `data_version is before ${reason.version}, the oldest version that is kept.`,
        allowed: `versions from ${reason.version} on`,
      };
    case 'leapt': {
      const { from, to } = reason;
      return {
        message: `data_version never existed: version ${to} follows version ${from}, because of a restore or a copy.`,
        allowed: `versions up to ${from}, or from ${to} on`,
      };
    }
    case 'undone': {
      const { run, from, to } = reason;
      const before = from === null ? '' : `up to ${from - 1}, or `;
      return {
        message: `data_version contains run ${run}, which was undone in version ${to}: undone data are not kept.`,
        allowed: `versions ${before}from ${to} on`,
      };
    }
    case 'far':
      return {
        message: `data_version is too old: too many rows of ${reason.dataset.replaceAll('_', ' ')} have changed since then.`,
        allowed: 'a later version',
      };
  }
}

const refusalOf = (version: number, reason: Unreadable): Refusal =>
  new Refusal('invalid_parameter', { ...problemOf(reason), param: 'data_version', got: String(version) });

/**
 * Reads stores as they were. What it found of the changed rows, and the look-ups of the newest versions, are
 * kept for the next request.
 */
export class PastVersions {
  readonly #found = new SizedCache<FoundFormer>(queryLimits.formerBytesMax);
  /** By version. A value in them has the name of its store. */
  readonly #lookups = new SizedCache<Lookup, number>(queryLimits.pastLookupsMax);

  /** The version that a request names; null where it is answered from the present data. */
  static askedBy({ parameters }: QueryRequest): number | null {
    return (parameters.data_version as number | undefined) ?? null;
  }

  /** The look-ups of a version, which stay right: nothing changes it. */
  lookup(version: number): Lookup {
    const lookup = this.#lookups.get(version) ?? new Lookup(queryLimits.pastLookupPart);
    if (!this.#lookups.has(version)) this.#lookups.set(version, lookup, 1);
    return lookup;
  }

  /**
   * Reads a version.
   * @throws Refusal where the store cannot be read as it was; TooDear where that takes longer than the lane
   * allows
   */
  async reader(
    present: Reader,
    { endpoint }: Pick<QueryRequest, 'endpoint'>,
    version: number,
    lane: LaneBounds,
  ): Promise<Reader> {
    const newest = await present.version();
    if (newest === null)
      throw new Refusal('unavailable', { message: 'The version of the stored data is damaged.' });
    const isBounded = lane.baseBarsMax < Number.POSITIVE_INFINITY;
    const { formerEntriesOfFastLane, formerEntriesMax, formerBytesMax: bytesMax } = queryLimits;
    const entriesMax = isBounded ? formerEntriesOfFastLane : formerEntriesMax;
    const bounds = { found: this.#found, entriesMax, bytesMax };
    const state = await PastState.open(present, newest, version, bounds);
    // The records of runs are there also of one that was undone since.
    if (endpoint !== 'runs') state.requireJournal();
    return new PastReader(present, state);
  }
}

/**
 * The error of a request to the caller, where that is about its version. @throws TooDear where another lane
 * may look further back
 */
export function refusedVersion(error: unknown, version: number | null, lane: LaneBounds): unknown {
  if (!(error instanceof UnreadableVersion) || version === null) return error;
  if (error.reason.why === 'far' && lane.baseBarsMax < Number.POSITIVE_INFINITY) return new TooDear();
  return refusalOf(version, error.reason);
}

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
  if (asked > nowMs) throw tooLate('as_of', asked, 'now', 'Leave as_of out to use current data.');
  if (pinnedMs !== undefined && asked > pinnedMs) {
    const instant = formatInstantZ(pinnedMs);
    const hint = `The operator can move the key: bourse keys move ID --as-of ${formatInstantZ(asked)}`;
    throw tooLate('as_of', asked, `${instant}, the instant that your key is pinned to`, hint);
  }
  return asked;
}

/** The refusal of a walk that sees more than the caller's key may. */
function laterWalk(key: string, pinnedMs: number): Refusal {
  return new Refusal('invalid_page_key', {
    message: `next_page_key is from a later moment than ${formatInstantZ(pinnedMs)}, to which your key is pinned.`,
    param: 'next_page_key',
    got: key,
    hint: 'Start again without next_page_key.',
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

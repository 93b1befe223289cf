// The version of the stored data that a request is answered from (contract 9.12).
import { SizedCache } from '../base/sized-cache.ts';
import { Refusal } from '../contract/errors.ts';
import { PastReader } from '../store/past/past-reader.ts';
import { type FoundFormer, PastState, type Unreadable, UnreadableVersion } from '../store/past/past-state.ts';
import type { Reader } from '../store/store.ts';
import { queryLimits } from './limits.ts';
import { Lookup } from './lookup.ts';
import { type LaneBounds, type QueryRequest, TooDear } from './query.ts';

/** What of a version cannot be read, and what would be right. */
function problemOf(reason: Unreadable): { readonly message: string; readonly allowed: string } {
  switch (reason.why) {
    case 'later':
      return {
        message: `data_version is after ${reason.version}, the newest version of the stored data.`,
        allowed: `versions up to ${reason.version}`,
      };
    case 'earlier':
      return {
        message: `data_version is before ${reason.version}, the oldest version that the journal can give.`,
        allowed: `versions from ${reason.version} on`,
      };
    case 'leapt': {
      const { from, to } = reason;
      return {
        message: `data_version is between ${from} and ${to}: the stored data never had it. After ${from} they went on with ${to}, as after a restore or a copy.`,
        allowed: `versions up to ${from}, or from ${to} on`,
      };
    }
    case 'undone': {
      const { run, from, to } = reason;
      const before = from === null ? '' : `up to ${from - 1}, or `;
      return {
        message: `data_version has what run ${run} brought, which was undone with version ${to}: the journal does not have it any more.`,
        allowed: `versions ${before}from ${to} on`,
      };
    }
    case 'far':
      return {
        message: `data_version is too far back: too much of ${reason.dataset.replaceAll('_', ' ')} has changed since to be looked through for one request.`,
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

// Estimates the bytes of an answer before its query runs, so that requests which wait for theirs count, too.
import type { QueryRequest } from '../../queries/query.ts';

/** How much of a large answer an estimate keeps after a smaller one. */
const KEPT = 0.9;

const recordsOf = ({ parameters }: Pick<QueryRequest, 'parameters'>): number =>
  typeof parameters.limit === 'number' ? parameters.limit : 1;

type Sizes = { readonly bytesPerRecord: number; readonly largest: number };

const NONE: Sizes = { bytesPerRecord: 0, largest: 0 };

/**
 * The sizes of the answers of each endpoint: of the latest in bytes for each record that was asked for, and
 * of the largest.
 */
export class AnswerSizes {
  readonly #byEndpoint = new Map<QueryRequest['endpoint'], Sizes>();

  /**
   * The bytes that an answer is expected to have; 0 before the first of its endpoint. Never more than the
   * largest had: one record may be very long, and a thousand times its bytes would be above every bound.
   */
  expected(request: QueryRequest): number {
    const { bytesPerRecord, largest } = this.#byEndpoint.get(request.endpoint) ?? NONE;
    return Math.min(Math.ceil(bytesPerRecord * recordsOf(request)), largest);
  }

  /** Learns the size of an answer. */
  add(request: QueryRequest, bytes: number): void {
    const before = this.#byEndpoint.get(request.endpoint) ?? NONE;
    this.#byEndpoint.set(request.endpoint, {
      bytesPerRecord: Math.max(bytes / recordsOf(request), before.bytesPerRecord * KEPT),
      largest: Math.max(bytes, before.largest),
    });
  }
}

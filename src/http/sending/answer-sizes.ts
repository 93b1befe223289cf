// Estimates the bytes of an answer before its query runs, so that requests which wait for theirs count, too.
import type { EndpointName } from '../../contract/index.ts';
import type { QueryRequest } from '../../queries/query.ts';

/** How much of a large answer an estimate keeps after a smaller one. */
const KEPT = 0.9;

const recordsOf = ({ parameters }: Pick<QueryRequest, 'parameters'>): number =>
  typeof parameters.limit === 'number' ? parameters.limit : 1;

/** The sizes of the latest answers, in bytes for each record that was asked for. */
export class AnswerSizes {
  readonly #bytesPerRecord = new Map<EndpointName, number>();

  /** The bytes that an answer is expected to have; 0 before the first of its endpoint. */
  expected(request: QueryRequest): number {
    return Math.ceil((this.#bytesPerRecord.get(request.endpoint) ?? 0) * recordsOf(request));
  }

  /** Learns the size of an answer. */
  add(request: QueryRequest, bytes: number): void {
    const before = this.#bytesPerRecord.get(request.endpoint) ?? 0;
    this.#bytesPerRecord.set(request.endpoint, Math.max(bytes / recordsOf(request), before * KEPT));
  }
}

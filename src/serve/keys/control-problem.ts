// What is observed where uses of keys could not be written.
import { causeOf, type Observation } from '../../base/observe.ts';
import { StoreUnavailable } from '../../store/store.ts';

/**
 * The observation of a failed write: a store out of reach is no fault, and is logged once a second whoever
 * meets it.
 */
export const controlProblem = (where: string, error: unknown): Observation =>
  error instanceof StoreUnavailable
    ? { kind: 'unavailable', cause: error.message }
    : { kind: 'fault', requestId: null, where, cause: causeOf(error) };

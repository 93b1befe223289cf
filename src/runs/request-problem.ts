// Why a command on stored data cannot be carried out.

/**
 * The store cannot do what was asked; the message says what to do instead (exit status 2). Nothing was
 * written.
 */
export class RequestProblem extends Error {
  override readonly name = 'RequestProblem';
}

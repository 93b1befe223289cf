// Why a command on stored data cannot be carried out: one clear message, the store as before.

/** What was asked for of the store cannot be done; the message names the cure (exit status 2). Nothing was written. */
export class RequestProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RequestProblem';
  }
}

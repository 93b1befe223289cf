// Turns of the event loop. Requests that arrive in one are taken up together at its end: what is the same for all of them is found
// out once, and their replies are sent one right after the other, so that whoever reads them is woken once.
import { limits } from '../contract/limits.ts';

type Work = (turn: number) => void;

/** What is to be done at the end of the turn; where that is much, a part of it sooner: others are not to idle until then. */
export class Turns {
  /** Of the whole process: what is shared in a turn is so beyond one server. */
  static #turn = 0;
  #works: Work[] = [];

  /** Does `work` at the end of this turn, and tells it the turn's number, which whatever arrives later does not have. */
  atEnd(work: Work): void {
    const count = this.#works.push(work);
    if (count === 1) setImmediate(() => this.#end());
    if (count === limits.turnRequestsMax) this.#end();
  }

  #end(): void {
    const works = this.#works;
    this.#works = [];
    const turn = ++Turns.#turn;
    for (const work of works) work(turn);
  }
}

// A false clock for a process: what loads it says what time it is. The monotonic clock, by which waits are
// measured, goes on.
const Real = Date;

/** The time of the machine, whatever the false clock says. */
export const realMs = Real.now;

/** From now on each way to ask what time it is gives `nowMs`. */
export function setClock(nowMs: () => number): void {
  globalThis.Date = new Proxy(Real, {
    construct: (target, words, itself) =>
      Reflect.construct(target, words.length === 0 ? [nowMs()] : words, itself) as Date,
    apply: () => new Real(nowMs()).toString(),
    get: (target, name, itself) => (name === 'now' ? nowMs : Reflect.get(target, name, itself)),
  });
}

// A false clock for a process of bourse and all its threads and children: loaded by `--import` in NODE_OPTIONS, it stands still at the moment
// that GOLDEN_CLOCK names. The monotonic clock, by which waits are measured, goes on.
const Real = Date;
const nowMs = (): number => Real.parse(process.env.GOLDEN_CLOCK!);

globalThis.Date = new Proxy(Real, {
  construct: (target, words, itself) =>
    Reflect.construct(target, words.length === 0 ? [nowMs()] : words, itself) as Date,
  apply: () => new Real(nowMs()).toString(),
  get: (target, name, itself) => (name === 'now' ? nowMs : Reflect.get(target, name, itself)),
});

// The chance in tests: the same in every run, so that none fails by chance. TEST_SEED takes another, for long
// forms and to repeat one.
import fc from 'fast-check';

const FIXED = 20_250_303;

/** The seed of every random test. */
export const seed = Number(process.env.TEST_SEED ?? FIXED);

const factor = Number(process.env.TEST_TIMES ?? 1);
if (!(factor > 0)) throw new Error('TEST_TIMES is a number above 0');

/** Tries of a random test: `count`, or TEST_TIMES times as many. */
export const times = (count: number): number => Math.ceil(count * factor);

fc.configureGlobal({ seed });

export { fc };

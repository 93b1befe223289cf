// The chance in tests: the same in every run, so that none fails by chance. TEST_SEED takes another, for long forms and to repeat one.
import fc from 'fast-check';

const FIXED = 20_250_303;

/** The seed of every random test. */
export const seed = Number(process.env.TEST_SEED ?? FIXED);

fc.configureGlobal({ seed });

export { fc };

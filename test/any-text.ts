// Texts of any characters, for random tests. The unit `binary` of fast-check takes more than a second to be
// made.
import { fc } from './seed.ts';

const between = (min: number, max: number): fc.Arbitrary<string> =>
  fc.integer({ min, max }).map((code) => String.fromCodePoint(code));

/**
 * Texts of any characters, half of them of Latin-1 and its control characters. Half a surrogate pair is in
 * none.
 */
export const anyText = fc.string({
  unit: fc.oneof(
    { weight: 2, arbitrary: between(0, 0xff) },
    { weight: 1, arbitrary: between(0, 0xd7ff) },
    { weight: 1, arbitrary: between(0xe000, 0x10_ffff) },
  ),
});

// Ascending positive whole numbers as bytes: the difference to the number before, seven bits a byte, the lowest first.

/** Encodes distinct numbers of 1 to 2^53 - 1, in any order. */
export function encodeIds(ids: Iterable<number>): Uint8Array {
  const bytes: number[] = [];
  let before = 0;
  for (const id of [...ids].sort((a, b) => a - b)) {
    let rest = id - before;
    before = id;
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
    bytes.push(rest);
  }
  return Uint8Array.from(bytes);
}

/** The numbers, ascending. */
export function decodeIds(bytes: Uint8Array): number[] {
  const ids: number[] = [];
  let id = 0;
  let power = 1;
  for (const byte of bytes) {
    id += (byte % 128) * power;
    power *= 128;
    if (byte > 0x7f) continue;
    ids.push(id);
    power = 1;
  }
  return ids;
}

/** How many numbers two ascending lists have in common. */
export function countCommon(one: readonly number[], other: readonly number[]): number {
  let count = 0;
  for (let a = 0, b = 0; a < one.length && b < other.length; ) {
    const first = one[a]!;
    const second = other[b]!;
    if (first === second) count++;
    if (first <= second) a++;
    if (second <= first) b++;
  }
  return count;
}

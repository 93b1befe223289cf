// Ascending numbers: binary search; lists of positive whole numbers as bytes: steps from one to the next,
// each as often as it comes in a row, seven bits a byte, the lowest first.

/**
 * The first of `count` indexes for which `holds` is true, which it is for all after it too; `count` where
 * there is none.
 */
export function firstWhere(count: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Writes a whole number of 0 to 2^53 - 1. */
function write(bytes: number[], number: number): void {
  let rest = number;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  bytes.push(rest);
}

/** Encodes distinct numbers of 1 to 2^52 - 1, in any order. */
export function encodeIds(ids: Iterable<number>): Uint8Array {
  const sorted = [...ids].sort((a, b) => a - b);
  const bytes: number[] = [];
  for (let at = 0; at < sorted.length; ) {
    const step = sorted[at]! - (sorted[at - 1] ?? 0);
    let times = 1;
    while (at + times < sorted.length && sorted[at + times]! - sorted[at + times - 1]! === step) times++;
    // An even number is a step alone, an odd one is followed by how often it comes.
    write(bytes, 2 * step + Number(times > 1));
    if (times > 1) write(bytes, times);
    at += times;
  }
  return Uint8Array.from(bytes);
}

/** The numbers, ascending. */
export function decodeIds(bytes: Uint8Array): number[] {
  const ids: number[] = [];
  let at = 0;
  const read = (): number => {
    let number = 0;
    for (let power = 1; ; power *= 128) {
      const byte = bytes[at++]!;
      number += (byte % 128) * power;
      if (byte <= 0x7f) return number;
    }
  };
  for (let id = 0; at < bytes.length; ) {
    const written = read();
    const step = Math.floor(written / 2);
    for (let times = written % 2 === 1 ? read() : 1; times > 0; times--) {
      id += step;
      ids.push(id);
    }
  }
  return ids;
}

/** Which numbers two ascending lists have in common, and which one of them alone has; each ascending. */
export function compareIds(one: readonly number[], other: readonly number[]) {
  const common: number[] = [];
  const onlyOne: number[] = [];
  const onlyOther: number[] = [];
  for (let a = 0, b = 0; a < one.length || b < other.length; ) {
    const first = one[a] ?? Number.POSITIVE_INFINITY;
    const second = other[b] ?? Number.POSITIVE_INFINITY;
    (first === second ? common : first < second ? onlyOne : onlyOther).push(Math.min(first, second));
    if (first <= second) a++;
    if (second <= first) b++;
  }
  return { common, onlyOne, onlyOther };
}

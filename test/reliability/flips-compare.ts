// How an answer of a damaged store differs from that of the sound one.
import { isDeepStrictEqual } from 'node:util';

/** What was got: rows as texts in their order, or why there are none. */
export type Outcome =
  | { readonly kind: 'rows'; readonly rows: readonly string[] }
  /** A 5xx or an error: the fault was told. */
  | { readonly kind: 'fault'; readonly why: string }
  /** A 4xx or its like: it is said that what the sound store holds is not there. */
  | { readonly kind: 'denial'; readonly why: string }
  | { readonly kind: 'endless'; readonly why: string };

/** How bad a difference is, the least first. `hang`: the thread had to be ended. */
export const verdicts = ['none', 'unopened', 'refused', 'lost', 'wrong', 'blowup', 'hang'] as const;
/** One of them. */
export type Verdict = (typeof verdicts)[number];

/** A difference, and in words what of it came first. */
export type Difference = { readonly verdict: Verdict; readonly how: string };

/** Many more rows than the sound store has. */
const ROWS_TIMES_MAX = 3;

const LENGTH_MAX = 400;

const short = (text: string | undefined): string =>
  text === undefined ? '(nothing)' : text.length <= LENGTH_MAX ? text : `${text.slice(0, LENGTH_MAX)}...`;

type Fields = Readonly<Record<string, unknown>>;

/** The fields of a row that is an object, or a list with an object at its end; null for any other. */
function fieldsOf(row: string | undefined): Fields | null {
  if (row === undefined || !/^[[{]/.test(row)) return null;
  const value = JSON.parse(row) as Fields | Fields[];
  const fields = Array.isArray(value) ? value.at(-1) : value;
  return typeof fields === 'object' ? fields : null;
}

/** The first row that differs: its fields that differ, or both rows. */
function firstDifference(sound: readonly string[], got: readonly string[]): string {
  const at = got.findIndex((row, index) => row !== sound[index]);
  const place = at < 0 ? got.length : at;
  const [was, is] = [fieldsOf(sound[place]), fieldsOf(got[place])];
  const differing = Object.keys(was ?? {}).filter((name) => !isDeepStrictEqual(was?.[name], is?.[name]));
  const what =
    was === null || is === null
      ? `${short(got[place])}, and not ${short(sound[place])}`
      : differing
          .map((name) => `${name} ${JSON.stringify(is[name])}, and not ${JSON.stringify(was[name])}`)
          .join('; ');
  return `row ${place + 1} of ${sound.length}: ${short(what)}`;
}

const isPartOf = (got: readonly string[], sound: readonly string[]): boolean => {
  let at = 0;
  for (const row of got) {
    while (at < sound.length && sound[at] !== row) at++;
    if (at++ === sound.length) return false;
  }
  return true;
};

/** What two answers that are given differ by; null for equal ones. */
function compareRows(sound: readonly string[], got: readonly string[]): Difference | null {
  if (sound.length === got.length && sound.every((row, index) => row === got[index])) return null;
  const first = firstDifference(sound, got);
  if (isPartOf(got, sound)) {
    const lost = sound.length - got.length;
    return { verdict: 'lost', how: `${lost} of ${sound.length} rows are lost; ${first}` };
  }
  if (got.length > ROWS_TIMES_MAX * sound.length + ROWS_TIMES_MAX)
    return { verdict: 'blowup', how: `${got.length} rows in place of ${sound.length}` };
  const known = new Set(sound);
  const unknown = got.filter((row) => !known.has(row));
  if (unknown.length > 0)
    return { verdict: 'wrong', how: `${unknown.length} rows with another value; ${first}` };
  const isTwice = new Set(got).size < got.length;
  return { verdict: 'wrong', how: `${isTwice ? 'rows twice' : 'another order'}; ${first}` };
}

/** What an answer differs by from that of the sound store; null where they are equal. */
export function compare(sound: readonly string[], got: Outcome): Difference | null {
  if (got.kind === 'rows') return compareRows(sound, got.rows);
  if (got.kind === 'fault') return { verdict: 'refused', how: got.why };
  if (got.kind === 'endless') return { verdict: 'blowup', how: got.why };
  return { verdict: 'lost', how: `denied: ${got.why}` };
}

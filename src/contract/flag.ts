// A yes or no as text, for parameters and for files. No schema here: the importer starts without the schema
// library.

/** The words of a yes or no, and what each means (contract 3.5). */
export const flagWords: Readonly<Record<string, boolean>> = {
  true: true,
  false: false,
  '1': true,
  '0': false,
  yes: true,
  no: false,
};

/** The meaning of a yes or no in any case; undefined for anything else. */
export function parseFlag(text: string): boolean | undefined {
  const word = text.toLowerCase();
  return Object.hasOwn(flagWords, word) ? flagWords[word] : undefined;
}

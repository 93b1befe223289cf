// How many tokens a text has, at the most: no tokenizer of an assistant is known here.

/**
 * Tokens of the characters of ASCII, by class: prose has half as many, tables of numbers nearly as many
 * (docs/decisions/0038).
 */
function weightOf(code: number): number {
  if (code === 0x20) return 0.25;
  const isLetterOrDigit =
    (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
  return isLetterOrDigit ? 0.5 : 1;
}

/** Bytes in UTF-8: no tokenizer makes more tokens of other characters. */
const bytesOf = (code: number): number => (code < 0x800 ? 2 : code < 0x10000 ? 3 : 4);

const tokensOfCharacter = (character: string): number => {
  const code = character.codePointAt(0)!;
  return code < 0x80 ? weightOf(code) : bytesOf(code);
};

/** The tokens of a text, estimated high. */
export function tokensOf(text: string): number {
  let tokens = 0;
  for (const character of text) tokens += tokensOfCharacter(character);
  return Math.ceil(tokens);
}

/** The beginning of a text with at most so many tokens. */
export function cutToTokens(text: string, tokensMax: number): string {
  let tokens = 0;
  let length = 0;
  for (const character of text) {
    tokens += tokensOfCharacter(character);
    if (tokens > tokensMax) return text.slice(0, length);
    length += character.length;
  }
  return text;
}

// What a page shows against what came: `…` stands for anything, all else is compared to the letter.

const ANYTHING = '…';

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

const fits = (shown: string, given: string, gap: string): boolean =>
  new RegExp(`^${shown.split(ANYTHING).map(escaped).join(gap)}$`).test(given);

/**
 * Where lines differ, in words; null where they agree. A line that is `…` alone stands for any number of
 * lines.
 */
export function differingText(shown: string, given: string): string | null {
  const lines = (text: string): string =>
    text
      .trim()
      .split(/\r?\n/)
      .map((line) => line.trimEnd())
      .join('\n');
  const pattern = lines(shown)
    .split('\n')
    .map((line) => (line.trim() === ANYTHING ? '[^]*' : line.split(ANYTHING).map(escaped).join('[^\\n]*')))
    .join('\n')
    .replaceAll('\n[^]*', '(?:\\n[^]*)?')
    .replaceAll('[^]*\n', '(?:[^]*\\n)?');
  return new RegExp(`^${pattern}$`).test(lines(given)) ? null : `shown\n${shown}\nbut it is\n${given.trim()}`;
}

/**
 * Where JSON differs: keys, their order, values. `…` is any value, in a text any part of it, as an array's
 * last element any more.
 */
export function differingJson(shown: string, given: string): string | null {
  const quoted = shown.replace(/(?<=[:[,]\s*)…(?=\s*[,\]}])/g, `"${ANYTHING}"`);
  return differing(JSON.parse(quoted), JSON.parse(given), 'the answer');
}

function differing(shown: unknown, given: unknown, where: string): string | null {
  if (shown === ANYTHING) return null;
  if (typeof shown === 'string' && typeof given === 'string' && fits(shown, given, '[^]*')) return null;
  if (Array.isArray(shown) && Array.isArray(given)) return differingItems(shown, given, where);
  if (isRecord(shown) && isRecord(given)) {
    const [shownKeys, givenKeys] = [Object.keys(shown).join(), Object.keys(given).join()];
    if (shownKeys !== givenKeys) return `${where}: keys shown ${shownKeys}; they are ${givenKeys}`;
    return first(Object.keys(shown), (key) => differing(shown[key], given[key], `${where}.${key}`));
  }
  if (shown === given) return null;
  return `${where}: shown ${JSON.stringify(shown)}; it is ${JSON.stringify(given)}`;
}

function differingItems(shown: readonly unknown[], given: readonly unknown[], where: string): string | null {
  const isOpen = shown.at(-1) === ANYTHING;
  const items = isOpen ? shown.slice(0, -1) : shown;
  const isLong = isOpen ? given.length >= items.length : given.length === items.length;
  if (!isLong) return `${where}: shown with ${items.length} items; it has ${given.length}`;
  return first([...items.keys()], (at) => differing(items[at], given[at], `${where}[${at}]`));
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function first<T>(items: readonly T[], look: (item: T) => string | null): string | null {
  for (const item of items) {
    const found = look(item);
    if (found !== null) return found;
  }
  return null;
}

// Sizes for a person.
const units = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const;

/** A size in powers of 1000, with one decimal from 1 kB on: `12.3 MB`. */
export function formatBytes(bytes: number): string {
  let size = bytes;
  let power = 0;
  for (; power < units.length - 1 && Number(size.toFixed(1)) >= 1000; power++) size /= 1000;
  return `${size.toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}

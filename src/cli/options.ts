// Options that several commands share.
import { InvalidArgumentError, Option } from 'commander';

/** Where the store is. */
export const storeOption = (): Option =>
  new Option('--store <url>', 'the store, such as sqlite:data/bourse.db (environment: BOURSE_STORE)');

/** Answers for a program instead of a person. */
export const jsonOption = (): Option => new Option('--json', 'print JSON instead of a table');

/** A whole number of an option. */
export function wholeNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}

/** A whole number of an option, from 1. */
export function positive(text: string): number {
  const number = wholeNumber(text);
  if (number > 0) return number;
  throw new InvalidArgumentError('It must be at least 1.');
}

// The fields of a dataset by what a file needs to have of them.
import type { Fields } from '../../store/schema/dataset.ts';
import type { FieldNames } from './column-mapping.ts';
import { known } from './presets/preset.ts';

/** The names of the required and of the other fields, in their order, and the flags that can give them. */
export function namesOf(fields: Fields): FieldNames {
  const names = Object.keys(fields);
  return {
    required: names.filter((name) => fields[name]!.isRequired),
    optional: names.filter((name) => !fields[name]!.isRequired),
    needed: names.filter((name) => fields[name]!.isRequired || fields[name]!.isOfOneKind),
    flags: known(Object.fromEntries(names.map((name) => [name, fields[name]!.flag]))),
  };
}

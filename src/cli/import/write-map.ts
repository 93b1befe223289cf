// Writes the mapping file that `bourse import --explain --write-map` makes.
import { writeFileSync } from 'node:fs';
import { type FieldNames, type MappedFile, mappingText } from '../../imports/map/column-mapping.ts';
import { importCommand } from '../../runs/import-command.ts';
import { UsageProblem } from '../config.ts';
import { fieldFlags, type ImportFlags } from './import-flags.ts';

/**
 * The mapping of a file and of the flags of the call, written where each field has a column or may have a
 * flag; what to do next, else null. @throws UsageProblem
 */
export function writeMap(
  dataset: string,
  { name, mapping }: MappedFile,
  { required, flags: flagOf }: FieldNames,
  flags: ImportFlags,
): string | null {
  const { writeMap: path = '', zone, prices, volumes, symbols, label } = flags;
  const values = Object.fromEntries(fieldFlags(dataset, flags));
  const missing = required.filter((field) => !Object.hasOwn({ ...mapping.columns, ...values }, field));
  if (missing.some((field) => flagOf[field] === undefined)) return null;
  const written = {
    ...mapping,
    values,
    ...(zone !== undefined && { zone }),
    ...(prices !== undefined && { prices }),
    ...(volumes !== undefined && { volumes }),
    ...(symbols !== undefined && { symbols }),
    ...(label !== undefined && { label }),
  };
  try {
    writeFileSync(path, `${mappingText(written, 2)}\n`, { flag: 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason =
      code === 'EEXIST' ? 'there is such a file: name another one' : `cannot be written (${code})`;
    throw new UsageProblem(`--write-map ${path}: ${reason}`, { cause: error });
  }
  const needed = missing.map((field) => flagOf[field]);
  const more = needed.length === 0 ? '' : `, with ${needed.join(', ')}`;
  return `wrote ${path}; import with it${more}: ${importCommand(dataset, name, { map: path })}`;
}

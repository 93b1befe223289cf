// Chooses the column mapping of a file: from --map, from --preset, from the preset that surely fits, or none.
import { nearest } from '../../base/nearest.ts';
import { FileProblem, unfitProblem } from '../read/file-problem.ts';
import { isJsonPath } from '../read/json-paths.ts';
import type { Sample } from '../read/sample.ts';
import { inputsOf } from './cell.ts';
import {
  type ChooseMapping,
  type ColumnMapping,
  type FieldNames,
  noMapping,
  ownNames,
} from './column-mapping.ts';
import { guessMapping, type Told } from './guess-mapping.ts';
import { delimiterRule, readMappingFile } from './mapping-file.ts';
import { presets } from './presets/index.ts';
import type { Preset } from './presets/preset.ts';

/** Switches the presets off. */
const NONE = 'none';

/** For a mapping that is to be written: a file that no preset reads gets the one that its rows show. */
export function guessedMapping(dataset: string, fields: FieldNames, told: Told): ChooseMapping {
  if (told.delimiter !== undefined) checkDelimiter(told.delimiter);
  return (sample) => {
    const preset = presets.find((one) => one.dataset === dataset && one.fits(sample) === 'surely');
    if (preset === undefined) return guessMapping(sample, fields, told);
    throw unfitProblem(sample.name, `is read by the preset ${preset.name}: it needs no mapping file`);
  };
}

function checkDelimiter(delimiter: string): void {
  const reason = delimiterRule(delimiter);
  if (reason !== null) throw new FileProblem('usage', `--delimiter ${delimiter}: ${reason}`);
}

/**
 * The column mapping for the files of one call. @throws FileProblem where the mapping file or preset does not
 * exist
 */
export function chooseMapping(
  dataset: string,
  preset: string | undefined,
  mapPath: string | undefined,
  delimiter?: string,
): ChooseMapping {
  const choose = chosen(dataset, preset, mapPath);
  if (delimiter === undefined) return choose;
  checkDelimiter(delimiter);
  return (sample) => ({ ...choose(sample), delimiter });
}

function chosen(dataset: string, preset: string | undefined, mapPath: string | undefined): ChooseMapping {
  if (mapPath !== undefined) {
    if (preset !== undefined && preset !== NONE)
      throw new FileProblem('usage', '--map and --preset both name the columns. Give only one of them');
    const mapping = readMappingFile(mapPath);
    return () => withPaths(mapping);
  }
  if (preset === NONE) return ownNames;
  if (preset === undefined) return (sample) => detected(dataset, sample);
  const named = presetNamed(dataset, preset);
  return (sample) => askedFor(named, sample);
}

function presetNamed(dataset: string, name: string): Preset {
  const named = presets.find((preset) => preset.name === name);
  if (named === undefined) {
    const names = presets.map((preset) => preset.name);
    const near = nearest(name, names);
    const hint = near === undefined ? '' : `; is it ${near}?`;
    throw new FileProblem(
      'usage',
      `there is no preset ${name}: it is one of ${names.join(', ')}, ${NONE}${hint}`,
    );
  }
  if (named.dataset === dataset) return named;
  throw new FileProblem(
    'usage',
    `the preset ${name} reads ${named.dataset}. Use bourse import ${named.dataset}`,
  );
}

/** A mapping with the columns that may be nested values of JSON. */
const withPaths = (mapping: ColumnMapping): ColumnMapping => ({
  ...mapping,
  paths: Object.values(mapping.columns).flatMap(inputsOf).filter(isJsonPath),
});

const by = (preset: Preset, sample: Sample): ColumnMapping => ({
  ...withPaths(preset.mappingOf(sample)),
  preset: preset.name,
  ...(preset.isOpenEnded && { isOpenEnded: true }),
});

const hintOf = ({ name, dataset }: Preset, wanted: string): string =>
  dataset === wanted ? `add --preset ${name}` : `use bourse import ${dataset}`;

function askedFor(preset: Preset, sample: Sample): ColumnMapping {
  if (preset.fits(sample) !== 'no') return by(preset, sample);
  const other = presets.find(({ fits }) => fits(sample) === 'surely');
  const cure =
    other === undefined
      ? `its files begin: ${preset.example[0]}`
      : `it is a file of the preset ${other.name}: ${hintOf(other, preset.dataset)}`;
  throw unfitProblem(sample.name, `is not a file of the preset ${preset.name}; ${cure}`);
}

function detected(dataset: string, sample: Sample): ColumnMapping {
  const sure = presets.filter(({ fits }) => fits(sample) === 'surely');
  const preset = sure.find((one) => one.dataset === dataset);
  if (preset !== undefined) return by(preset, sample);
  const near = sure[0] ?? presets.find((one) => one.dataset === dataset && one.fits(sample) === 'perhaps');
  if (near === undefined) return noMapping;
  return { ...noMapping, hint: `It may be a file of the preset ${near.name}: ${hintOf(near, dataset)}.` };
}

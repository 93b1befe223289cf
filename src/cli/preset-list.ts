// What `bourse import --preset list` prints: every preset with the beginning of such a file.
import { presets } from '../mapping/presets/index.ts';

/** The presets, by dataset, in words. */
export function presetList(): string {
  const datasets = [...new Set(presets.map(({ dataset }) => dataset))];
  const parts = datasets.map((dataset) => {
    const own = presets.filter((preset) => preset.dataset === dataset);
    const told = own.map(({ name, says, example }) =>
      [`  ${name}: ${says}`, ...example.map((line) => `      ${line}`)].join('\n'),
    );
    return [`bourse import ${dataset}`, ...told].join('\n');
  });
  return `${parts.join('\n\n')}\n\nA file is read by a preset that it surely fits, and the report says so; --preset NAME names one, --preset none switches them off.\n`;
}

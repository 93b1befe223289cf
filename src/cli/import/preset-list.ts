// What `bourse import --preset list` prints: every preset with the beginning of such a file.
import { presets } from '../../imports/map/presets/index.ts';

/** The presets, by dataset, in words. */
export function presetList(): string {
  const parts = [...Map.groupBy(presets, ({ dataset }) => dataset)].map(([dataset, own]) => {
    const lines = own.flatMap(({ name, says, example }) => [
      `  ${name}: ${says}`,
      ...example.map((line) => `      ${line}`),
    ]);
    return [`bourse import ${dataset}`, ...lines].join('\n');
  });
  return `${parts.join('\n\n')}\n\nA preset that a file surely fits is applied automatically; the report names it. --preset NAME chooses one, --preset none none.\n`;
}

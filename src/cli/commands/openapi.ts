// `bourse openapi`
import { Command } from 'commander';
import { openApiDocument } from '../../serve/openapi/document.ts';
import { readSettings, type SettingFlags } from '../config.ts';
import { examples, settingOption } from '../shared/flags.ts';
import { version } from '../shared/version.ts';

export function openapiCommand(): Command {
  return new Command('openapi')
    .addOption(settingOption('publicUrl'))
    .addHelpText(
      ...examples(
        'bourse openapi > openapi.json',
        'bourse openapi --public-url https://data.example.com/bourse',
      ),
    )
    .action((flags: SettingFlags) => {
      const { publicUrl, port } = readSettings(flags);
      const document = openApiDocument(publicUrl ?? `http://127.0.0.1:${port}`, version());
      process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
    });
}

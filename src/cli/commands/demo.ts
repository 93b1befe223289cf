// `bourse demo`
import { Command } from 'commander';
import { DAY_MS, formatDay } from '../../base/instant.ts';
import { replaceKey } from '../../serve/keys/api-keys.ts';
import { openControl, resolveStore } from '../../store/engines.ts';
import { readSettings, type SettingFlags } from '../config.ts';
import { DEMO_STORE, ensureDemo, sampleText } from '../demo/demo-store.ts';
import { startService, untilStopped, warnOfSettings } from '../serve/serving.ts';
import { examples, settingOption } from '../shared/flags.ts';
import { closing } from '../shared/opened-store.ts';

const DEMO_KEY = 'demo';

/** The address, the key and requests to try, each of which answers 200. */
async function introduce(base: string, key: string, today: number): Promise<string> {
  const requests = (await sampleText('requests.txt', today))
    .replaceAll('<API_KEY>', key)
    .replace(/^(?=.)/gm, '  ')
    .replace(/^ {2}(?=\/)/gm, `    ${base}`);
  return `Bourse serves a demo on ${base} - open it in a browser
Everything in it is synthetic: three years of prices up to ${formatDay(today - 1)} (AAPL, MSFT, SPY, BTCUSD, EURUSD), dividends, news, options, events.
Your key is ${key}

Try these in a browser or with curl -s:
${requests}
Your own data: bourse import --help. To stop: Ctrl-C.
`;
}

export function demoCommand(): Command {
  return new Command('demo')
    .addOption(settingOption('host'))
    .addOption(settingOption('port'))
    .addOption(settingOption('logLevel'))
    .addHelpText(...examples('bourse demo', 'bourse demo --port 9000'))
    .action(async (flags: SettingFlags) => {
      const settings = { ...readSettings(flags), store: resolveStore(DEMO_STORE) };
      const nowMs = Date.now();
      const today = Math.floor(nowMs / DAY_MS);
      await ensureDemo(nowMs);
      await warnOfSettings(settings);
      let filledIn: string | null = null;
      const service = await startService(settings, () => filledIn);
      await untilStopped(service, async () => {
        // Only now: a demo that cannot start must not revoke the key of a running one.
        const { secret } = await closing(openControl(settings.store, 'write'), (control) =>
          replaceKey(control, DEMO_KEY, Date.now()),
        );
        filledIn = secret;
        process.stdout.write(await introduce(service.url, secret, today));
      });
    });
}

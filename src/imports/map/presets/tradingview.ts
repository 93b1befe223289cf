// TradingView, "Export chart data".
import { stemOf } from '../../read/sample.ts';
import { begins, given, known, type Preset } from './preset.ts';

/** `BATS_AAPL, 1D`, `BINANCE_BTCUSDT, 60`, and as some systems save it, `BATS_AAPL, 1D_a1b2c`. */
const NAME = /^([A-Z0-9]+)_([A-Z0-9.!]+), (\d+)([SDWM]?)(?:_[0-9a-f]+)?$/;

const periods: Readonly<Record<string, string>> = { D: 'DAY', W: 'WEEK', M: 'MON' };

function intervalNamed(count: string | undefined, unit: string | undefined): string | null {
  if (count === undefined || unit === 'S') return null;
  if (unit === '') return Number(count) <= 1440 ? `${count}M` : null;
  return count === '1' ? (periods[unit!] ?? null) : null;
}

export const tradingview: Preset = {
  name: 'tradingview',
  says: 'TradingView "Export chart data", time as ISO or UNIX',
  dataset: 'bars',
  example: ['time,open,high,low,close,Volume', '1744810200,198.36,198.9,197.8,198.11,3120410'],
  fits(sample) {
    if (begins('time,open,high,low,close')(sample) === 'no') return 'no';
    return NAME.test(stemOf(sample)) ? 'surely' : 'perhaps';
  },
  mappingOf(sample) {
    const [, , symbol, count, unit] = NAME.exec(stemOf(sample)) ?? [];
    return {
      columns: { datetime: 'time', ...given(sample, { volume: 'Volume', vwap: 'VWAP' }) },
      values: known({ symbol, interval: intervalNamed(count, unit) }),
      prices: 'split',
    };
  },
};

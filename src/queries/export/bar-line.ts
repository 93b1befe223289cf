// Bars as lines of text: the parts that all lines of a series share are made once.

import { DAY_MS, formatDay, formatInstantZ, HOUR_MS, MINUTE_MS } from '../../base/instant.ts';
import { type Interval, intervalMinutes } from '../../contract/interval.ts';
import type { Bars } from '../../market/bars/columns.ts';
import { EXCHANGE_LENGTH_MAX, seriesFields, valueFields } from '../../store/schema/bars.ts';
import type { Instrument } from '../../store/schema/reference.ts';
import { numberText, type TextStyle } from './text-style.ts';

/** The part of `2025-03-03T09:30:00Z` before the minutes. */
const HOUR_LENGTH = 'YYYY-MM-DDTHH:'.length;

const MINUTES = Array.from({ length: 60 }, (_, minute) => `${String(minute).padStart(2, '0')}:00Z`);

/**
 * Writes the lines of one series: names, moment, values, in the order of `seriesFields` and `valueFields`.
 */
export class BarLine {
  readonly #style: TextStyle;
  readonly #before: readonly string[];
  readonly #instrument: Instrument;
  readonly #interval: Interval;
  readonly #isMinutes: boolean;
  readonly #null: string;
  #hour = Number.NaN;
  #hourText = '';

  constructor(style: TextStyle, instrument: Instrument, interval: Interval) {
    this.#style = style;
    this.#before = style.before([...seriesFields, 'datetime', ...valueFields]);
    this.#instrument = instrument;
    this.#interval = interval;
    this.#isMinutes = intervalMinutes(interval) !== null;
    this.#null = style.cell(null);
  }

  /** The lines of some bars, under the present symbol of their instrument. */
  text(bars: Bars): string {
    const { quote, end } = this.#style;
    const start = this.#start() + quote;
    const [open, high, low, close, volume, vwap] = this.#before.slice(seriesFields.length + 1);
    let text = '';
    for (let at = 0; at < bars.count; at++) {
      text += `${start}${this.#moment(bars.keyMs[at]!)}${quote}${open}${numberText(bars.open[at]!)}${high}${numberText(bars.high[at]!)}${low}${numberText(bars.low[at]!)}${close}${numberText(bars.close[at]!)}${volume}${this.#orNull(bars.volume[at]!)}${vwap}${this.#orNull(bars.vwap[at]!)}${end}`;
    }
    return text;
  }

  /** All cells before the moment. */
  #start(): string {
    const { asset_schema, country_iso_code, symbol, exchange } = this.#instrument;
    // A longer one is imported with instruments only.
    const named = exchange !== null && exchange.length > EXCHANGE_LENGTH_MAX ? null : exchange;
    const names = [asset_schema, country_iso_code, symbol, this.#interval, named];
    const cells = names.map((name, place) => this.#before[place]! + this.#style.cell(name));
    return cells.join('') + this.#before[seriesFields.length]!;
  }

  /** The open of a bar of minutes, else the first day of the period. */
  #moment(keyMs: number): string {
    if (!this.#isMinutes) return formatDay(keyMs / DAY_MS);
    const hour = Math.floor(keyMs / HOUR_MS);
    if (hour !== this.#hour) {
      this.#hour = hour;
      this.#hourText = formatInstantZ(hour * HOUR_MS).slice(0, HOUR_LENGTH);
    }
    return this.#hourText + MINUTES[(keyMs - hour * HOUR_MS) / MINUTE_MS]!;
  }

  #orNull(value: number): string {
    return Number.isNaN(value) ? this.#null : numberText(value);
  }
}

// The markets that ship with Bourse, one line each.
import type { Market } from '../market.ts';
import { auStock } from './au-stock.ts';
import { caStock } from './ca-stock.ts';
import { chStock } from './ch-stock.ts';
import { cnStock } from './cn-stock.ts';
import { crypto } from './crypto.ts';
import { deStock } from './de-stock.ts';
import { euStock } from './eu-stock.ts';
import { forex } from './forex.ts';
import { frStock } from './fr-stock.ts';
import { hkStock } from './hk-stock.ts';
import { jpStock } from './jp-stock.ts';
import { ukStock } from './uk-stock.ts';
import { usFuture } from './us-future.ts';
import { usFutureCbotGrain } from './us-future-cbot-grain.ts';
import { usStock } from './us-stock.ts';

export const markets: readonly Market[] = [
  usStock,
  ukStock,
  caStock,
  auStock,
  chStock,
  deStock,
  frStock,
  euStock,
  jpStock,
  hkStock,
  cnStock,
  usFuture,
  usFutureCbotGrain,
  crypto,
  forex,
];

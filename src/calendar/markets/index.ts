// The markets that ship with Bourse, one line each.
import type { Market } from '../market.ts';
import { auStock } from './au-stock.ts';
import { caStock } from './ca-stock.ts';
import { chStock } from './ch-stock.ts';
import { crypto } from './crypto.ts';
import { forex } from './forex.ts';
import { ukStock } from './uk-stock.ts';
import { usFuture } from './us-future.ts';
import { usStock } from './us-stock.ts';

export const markets: readonly Market[] = [
  usStock,
  ukStock,
  caStock,
  auStock,
  chStock,
  usFuture,
  crypto,
  forex,
];

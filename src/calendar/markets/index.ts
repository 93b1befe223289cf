// The markets that ship with Bourse, one line each.
import type { Market } from '../market.ts';
import { crypto } from './crypto.ts';
import { forex } from './forex.ts';
import { usFuture } from './us-future.ts';
import { usStock } from './us-stock.ts';

export const markets: readonly Market[] = [usStock, usFuture, crypto, forex];

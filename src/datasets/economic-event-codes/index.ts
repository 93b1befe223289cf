// Economic event codes that ship: one file a country. What files say of codes stands over them (contract 11).
import { auEventCodes } from './au.ts';
import { caEventCodes } from './ca.ts';
import { chEventCodes } from './ch.ts';
import { cnEventCodes } from './cn.ts';
import { deEventCodes } from './de.ts';
import { euEventCodes } from './eu.ts';
import { frEventCodes } from './fr.ts';
import { hkEventCodes } from './hk.ts';
import { jpEventCodes } from './jp.ts';
import { ukEventCodes } from './uk.ts';
import { usEventCodes } from './us.ts';

/** Code to what it means, by country code. Each begins with its category, or with its central bank (spec 2.9). */
export const shippedEventCodes: ReadonlyMap<string, Readonly<Record<string, string>>> = new Map([
  ['US', usEventCodes],
  ['UK', ukEventCodes],
  ['EU', euEventCodes],
  ['DE', deEventCodes],
  ['FR', frEventCodes],
  ['JP', jpEventCodes],
  ['AU', auEventCodes],
  ['CA', caEventCodes],
  ['CH', chEventCodes],
  ['HK', hkEventCodes],
  ['CN', cnEventCodes],
]);

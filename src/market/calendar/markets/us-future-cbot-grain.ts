// US grain and oilseed futures of the Chicago Board of Trade: an overnight and a day session, labelled by the
// date of the close. As for other US futures no holidays ship: an operator imports them.
import { type Market, type SegmentHours, weekdayHours } from '../market.ts';

const until = (close: string): readonly SegmentHours[] => [
  ['regular', '-05:00', '07:45'],
  ['regular', '08:30', close],
];

export const usFutureCbotGrain: Market = {
  key: 'US_FUTURE_CBOT_GRAIN',
  assetSchema: 'future',
  country: 'US',
  onlyByKey: true,
  zone: 'America/Chicago',
  sessionTemplate: 'US_FUTURE_CBOT_GRAIN_ETH',
  currency: 'USD',
  exchange: 'XCBT',
  years: [1900, 2200],
  hours: [
    // These hours contain those of every earlier session, which are not in this file.
    weekdayHours(
      '2012-05-21',
      'CME Group, new CME Globex hours for CBOT grains from trade date 2012-05-21: 17:00-14:00 Chicago',
      [['regular', '-07:00', '14:00']],
    ),
    weekdayHours(
      '2013-04-08',
      'CBOT submission 13-092 to the CFTC, 2013-03-13: 19:00-07:45 and 08:30-13:15 from 2013-04-08',
      until('13:15'),
    ),
    weekdayHours(
      '2015-07-06',
      'CME Group, FAQ on extended trading in CBOT grains and oilseeds: until 13:20 from trade date 2015-07-06',
      until('13:20'),
    ),
  ],
  codes: {},
  holidays: [],
};

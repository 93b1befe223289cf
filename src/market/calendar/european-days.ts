// The closing days that the exchanges of continental Europe share. They do not move from a weekend.
import type { HolidayRule, rulesFrom } from './market.ts';

/** The shared closing days as rules of one market; countries differ in the name of 26 December. */
export const europeanDays = (closed: ReturnType<typeof rulesFrom>, december26: string): HolidayRule[] => [
  closed('NEW_YEAR', "New Year's Day", { month: 1, day: 1 }),
  closed('GOOD_FRIDAY', 'Good Friday', { easter: -2 }),
  closed('EASTER_MONDAY', 'Easter Monday', { easter: 1 }),
  closed('LABOUR_DAY', 'Labour Day', { month: 5, day: 1 }),
  closed('CHRISTMAS', 'Christmas Day', { month: 12, day: 25 }),
  closed('BOXING_DAY', december26, { month: 12, day: 26 }),
];

// Economic event codes that ship, as a native file of codes. Imported descriptions replace them (contract
// 11).
import shipped from './economic-event-codes.json' with { type: 'json' };

/**
 * Code to description of one country, in the order of the file. Each code begins with its category, or with
 * its central bank (spec 2.9).
 */
export const shippedEventCodes = (country: string): Record<string, string> =>
  Object.fromEntries(
    shipped.filter((row) => row.country_iso_code === country).map((row) => [row.event_code, row.description]),
  );

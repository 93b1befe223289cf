// The report of one import.

import type { FormerRun, RunAhead } from '../../runs/former-runs.ts';
import type { Refusal, RefusalGroup } from '../read/file-problem.ts';

/** The rows that an import with `--replace` removed. */
export type RemovedRows = {
  /** Rows that the source brought before, and the file does not hold. */
  readonly rowsRemoved: number;
  /** Such rows that stay, because a run of another source holds them too. */
  readonly rowsLeft: number;
  /** Instruments of removed option contracts. */
  readonly instrumentsDeleted: number;
  /** The runs that had brought the removed rows. */
  readonly removed: readonly FormerRun[];
  /** The first removed rows, each by the fields that name it. */
  readonly removedRows: readonly Readonly<Record<string, string>>[];
};

/**
 * The report of an import, as `--json` prints it. Without `--replace`, or if a row was refused, it has no
 * removed rows.
 */
export type ImportReport = Partial<RemovedRows> & {
  readonly dataset: string;
  readonly file: string;
  readonly sha256: string;
  /**
   * The last line of a CSV has no line end, so that the file may have been cut off inside its last cell.
   * Never where it was packed, or where its vendor's files have no last line end.
   */
  readonly mayBeCut: boolean;
  /** The preset that read the file, and what it says of every row; null where none did. */
  readonly preset: {
    readonly name: string;
    readonly says: Readonly<Record<string, string>>;
    /** A warning about the file as a whole. */
    readonly doubt: string | null;
  } | null;
  /** Where the file comes from: the caller's words, else the name of the preset; null without either. */
  readonly source: string | null;
  /** Null where nothing was written. */
  readonly runId: number | null;
  readonly rowsRead: number;
  /** Those that are new and those that are replaced. */
  readonly rowsWritten: number;
  readonly rowsNew: number;
  readonly rowsReplaced: number;
  /** The runs whose rows were replaced; the oldest of very many runs are left out. */
  readonly replaced: readonly FormerRun[];
  /** Those that the store, or the file further up, has with the same values. */
  readonly rowsUnchanged: number;
  readonly rowsRefused: number;
  readonly newInstruments: number;
  /** Warnings about rows that were stored, each with its number of rows. */
  readonly findings: Readonly<Record<string, number>>;
  readonly outsideSessions: number;
  readonly offGrid: number;
  /** DAY bars of closed dates whose evening opens the next session: merged into it when they are read. */
  readonly mergedDays: number;
  /** Bars whose vwap lies outside their low and high: stored and served. */
  readonly vwapOutside: number;
  /** Times around the bars of the file that no import covers; absent where the dataset is not bars. */
  readonly openTimes?: readonly OpenTime[];
  readonly ignoredColumns: readonly string[];
  /** The first refused rows. */
  readonly refused: readonly Refusal[];
  /** The first reasons of refusals, each once with its first row. */
  readonly refusals: readonly RefusalGroup[];
  readonly rejectedFile: string | null;
  /** The number of rows in that file, if it has no room for all of them. */
  readonly rejectedRows?: number;
  /** The newest run, where it ended after this import by the clock: one of the two had a wrong clock. */
  readonly aheadRun: RunAhead | null;
  readonly durationMs: number;
};

/**
 * A time in which bars of a market and interval are not derived, because no import covers it (contract 3.9).
 */
export type OpenTime = {
  readonly market: string;
  readonly interval: string;
  /** Instants such as `2025-03-04T01:00:00Z`. */
  readonly from: string;
  readonly through: string;
  /**
   * Whether it lies between a series' earlier bars and the file, or between the file and the end of its last
   * session.
   */
  readonly isBefore: boolean;
};

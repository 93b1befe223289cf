// Words that say how a file means its symbols and dates (contract 3.6, 9.6).

/**
 * `then`: instruments have the symbols of each row's day. `now`: each has its whole history under its present
 * symbol.
 */
export const symbolTimes = ['then', 'now'] as const;

export type SymbolTime = (typeof symbolTimes)[number];

/** The end of a bar that its `datetime` names. */
export const barLabels = ['open', 'close'] as const;

export type BarLabel = (typeof barLabels)[number];

// What a day of a calendar may be, as its `session_template` says (contract 8.6).

/** `REGULAR`: an ordinary trading day. */
export const sessionTemplates = ['CLOSED', 'EARLY_CLOSE', 'LATE_OPEN', 'REGULAR'] as const;

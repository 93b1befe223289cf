// Advisory locks of a store: each is of the schema that the session works in, so that stores of one database
// do not wait for each other.

const numbers = { layout: 1, write: 2, control: 3, replaced: 4, copied: 5 } as const;

/** The two numbers of a lock, for the functions `pg_advisory_…`. */
export const lockOf = (name: keyof typeof numbers): string =>
  `hashtext('bourse.' || current_schema()), ${numbers[name]}`;

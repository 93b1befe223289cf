// What we use of pgpass (npmjs.com/package/pgpass), which has no types.
declare module 'pgpass' {
  /**
   * Gives the password for a connection in the file of PGPASSFILE or ~/.pgpass, undefined without one. Passes
   * over a file that others can read, with a warning.
   */
  export default function pgpass(
    connection: {
      readonly host: string;
      readonly port: number;
      readonly database: string;
      readonly user: string;
    },
    found: (password: string | undefined) => void,
  ): void;
}

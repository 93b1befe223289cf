// The notes of one write about blocks: in memory, and in a table of its own where they are many.
import { storeLimits } from '../limits.ts';
import { SentArray, type Session } from './session.ts';

const notesTable =
  'create temp table if not exists notes (series_id bigint, bucket bigint, note bytea, primary key (series_id, bucket)) on commit drop';

const keepText = `insert into notes select * from unnest($1::bigint[], $2::bigint[], $3::bytea[])
  on conflict (series_id, bucket) do update set note = excluded.note`;

type Note = { readonly seriesId: number; readonly bucket: number; readonly note: Uint8Array };

const placeOf = (seriesId: number, bucket: number): string => `${seriesId} ${bucket}`;

/** Notes of the present part of a write. */
export class Notes {
  readonly #session: Session;
  /** Those that are not in the table, by their place. */
  #kept = new Map<string, Note>();
  #keptBytes = 0;
  #hasTable = false;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Keeps a note, which replaces an earlier one. */
  async keep(seriesId: number, bucket: number, note: Uint8Array): Promise<void> {
    this.#kept.set(placeOf(seriesId, bucket), { seriesId, bucket, note });
    this.#keptBytes += note.length;
    if (this.#kept.size >= storeLimits.notesKeptMax || this.#keptBytes >= storeLimits.noteBytesKeptMax)
      await this.#store();
  }

  async #store(): Promise<void> {
    const notes = [...this.#kept.values()];
    this.#kept = new Map();
    this.#keptBytes = 0;
    if (!this.#hasTable) await this.#session.ask(notesTable);
    this.#hasTable = true;
    await this.#session.ask(keepText, [
      new SentArray(
        'int8',
        notes.map(({ seriesId }) => seriesId),
      ),
      new SentArray(
        'int8',
        notes.map(({ bucket }) => bucket),
      ),
      new SentArray(
        'bytea',
        notes.map(({ note }) => note),
      ),
    ]);
  }

  async find(seriesId: number, bucket: number): Promise<Uint8Array | null> {
    const kept = this.#kept.get(placeOf(seriesId, bucket));
    if (kept !== undefined || !this.#hasTable) return kept?.note ?? null;
    const [row] = await this.#session.ask('select note from notes where series_id = $1 and bucket = $2', [
      seriesId,
      bucket,
    ]);
    return (row?.[0] as Uint8Array | undefined) ?? null;
  }

  /** Forgets all notes at the end of a part. */
  async end(): Promise<void> {
    this.#kept = new Map();
    this.#keptBytes = 0;
    if (this.#hasTable) await this.#session.ask('delete from notes');
  }

  /** Forgets all notes of a part that is undone; the table may have been made in it. */
  undo(): void {
    this.#kept = new Map();
    this.#keptBytes = 0;
    this.#hasTable = false;
  }
}

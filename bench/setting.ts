// What every group gets: the scale of the run, its folder, and the server of 50 series that most groups ask.
import type { Scale } from './scale.ts';
import { UsualStore } from './usual-store.ts';
import type { Workshop } from './workshop.ts';

/** What every group gets. */
export class Setting {
  readonly scale: Scale;
  readonly workshop: Workshop;
  #usual: Promise<UsualStore> | null = null;

  constructor(scale: Scale, workshop: Workshop) {
    this.scale = scale;
    this.workshop = workshop;
  }

  /** The store of 50 series, filled once in a run. */
  usual(): Promise<UsualStore> {
    this.#usual ??= UsualStore.fill(this.workshop, this.scale.sessions);
    return this.#usual;
  }
}

// What the door gives for a request.

/** A whole reply; the body in pieces that follow each other. */
export type DoorReply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: readonly Uint8Array[];
  /** To be called when the body has been sent, or never will be. */
  readonly release?: () => void;
};

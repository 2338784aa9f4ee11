/**
 * The outcome of a row in one claim, as the settle records it: the outcome that the rail stated, with the row and how long the call
 * took. Only the engine itself can say that a row goes back unsent.
 */
import type { RailOutcome } from "../../contract/rail.ts";
import type { Message } from "../claim/message.ts";
import type { Captured } from "./captures.ts";

export interface RowOutcome {
  readonly message: Message;
  readonly kind: RailOutcome["kind"] | "released";
  readonly latencyMs: number;
  /** The receiver's code of a delivery, the error code of everything else. */
  readonly code?: string | undefined;
  readonly reason?: string | undefined;
  readonly reference?: string | undefined;
  readonly afterMs?: number | undefined;
  readonly throttled?: boolean | undefined;
  /** A lookup said that the earlier try never arrived, so the row is no longer uncertain. */
  readonly absent?: boolean | undefined;
  readonly captured?: Captured | undefined;
}

/** A row that goes back unsent. It is not a try. */
export function released(message: Message, code: string, afterMs = 0): RowOutcome {
  return { message, kind: "released", latencyMs: 0, code, afterMs };
}

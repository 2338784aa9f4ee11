/**
 * What came of one row, as the settle will record it.
 */
import type { Captured } from "./captures.ts";
import type { Message } from "./message.ts";

export type Outcome = "delivered" | "retry" | "unknown" | "rejected" | "released";

export interface Result {
  readonly message: Message;
  readonly outcome: Outcome;
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
export function released(message: Message, code: string, afterMs = 0): Result {
  return { message, outcome: "released", latencyMs: 0, code, afterMs };
}

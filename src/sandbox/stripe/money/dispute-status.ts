/** What the status of a dispute means. */
import type { Dispute } from "../things.ts";

export function isOpen({ status }: Dispute): boolean {
  return status === "warning_needs_response" || status === "needs_response" || status === "under_review";
}

/** The bank has taken the money: a dispute that is open or lost. An inquiry takes nothing. */
export function holdsMoney({ status }: Dispute): boolean {
  return status === "needs_response" || status === "under_review" || status === "lost";
}

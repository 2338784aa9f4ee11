/** Closes rails. */
import type { Rail } from "../../contract/rail.ts";

/** Connections that a rail keeps open for reuse; left open, they would keep the process alive. */
export function closeRails(rails: readonly Rail[]): void {
  for (const rail of rails) if ("close" in rail && typeof rail.close === "function") rail.close();
}

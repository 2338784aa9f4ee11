/**
 * Rails that no relay serves, what waits for them and which relay would serve them, for commands.
 *
 * Does not own: when each rail was served (outbox.rail_status), nor what relays log about it (src/outbox/observe/obstacles.ts).
 */
import type { FunctionResult } from "../../db/call.ts";
import { providerStatus } from "./provider-rails.ts";

export type RailStatus = FunctionResult<"outbox.rail_status">[number];

/** A relay process reports every minute, and a relay on demand should be called as often. */
const latelySeconds = 180;

/** Whether a relay (a process, or one on demand) serves it. */
export function wasServed({ served_seconds_ago: seconds }: RailStatus): boolean {
  return seconds !== null && seconds < latelySeconds;
}

/** Rails that rows wait for and no relay serves. */
export function deserted(rails: readonly RailStatus[]): readonly RailStatus[] {
  return rails.filter((row) => row.waiting > 0 && !wasServed(row));
}

/** "3 rows wait for "webhook", 1 row waits for "slack"". */
export function waitingWords(rails: readonly RailStatus[]): string {
  return rails
    .map(({ rail, waiting }) => (waiting === 1 ? `1 row waits for "${rail}"` : `${waiting} rows wait for "${rail}"`))
    .join(", ");
}

/** The command that starts a relay that serves it. */
export function bringsRail(rail: string): string {
  if (rail === "webhook")
    return "headroom relay with HEADROOM_SECRET_KEY, unless Vault keeps the secrets, or with --endpoints <file>";
  if (rail === "slack-webhook") return "headroom relay with HEADROOM_SECRET_KEY, unless Vault keeps the secrets";
  const own = providerStatus({}).filter(({ rails }) => rails.includes(rail));
  if (own.length === 0) return "headroom relay --rails <module>";
  const credentials = own.flatMap((provider) => provider.credentials).join(" or ");
  const variables = own.map(({ required }) => required.join(" and ")).join(", or ");
  return `headroom relay with ${variables} set (${credentials} may be stored: headroom secret set)`;
}

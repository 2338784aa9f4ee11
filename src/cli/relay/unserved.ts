/**
 * Rails that nobody serves, and what waits for them: said in the log of a relay at its start and when that changes, and by commands that
 * look.
 *
 * Owns: the words. Does not own: what counts as served (outbox.rail_status knows when each rail was).
 */
import { call, type FunctionResult } from "../../db/call.ts";
import type { Rail } from "../../contract/rail.ts";
import type { UpkeepTask } from "../../outbox/upkeep/upkeep.ts";
import { providerStatus } from "./provider-rails.ts";

export type RailStatus = FunctionResult<"outbox.rail_status">[number];

/** A relay process reports every minute, and a relay on demand should be called as often. */
export const latelySeconds = 180;

/** Whether a relay, a process or one on demand, delivers by it. */
export function wasServed({ served_seconds_ago: seconds }: RailStatus): boolean {
  return seconds !== null && seconds < latelySeconds;
}

/** Rails that rows wait for and nobody serves. */
export function deserted(rails: readonly RailStatus[]): readonly RailStatus[] {
  return rails.filter((row) => row.waiting > 0 && !wasServed(row));
}

/** "3 rows wait for "webhook", 1 row waits for "slack"". */
export function waitingWords(rails: readonly RailStatus[]): string {
  return rails
    .map(({ rail, waiting }) => (waiting === 1 ? `1 row waits for "${rail}"` : `${waiting} rows wait for "${rail}"`))
    .join(", ");
}

/** What a relay that serves it is started with. */
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

const everyMs = 60_000;

/** A task of the relay that serves these rails: it names those that it does not, and what waits for them. */
export function nameUnserved(rails: readonly Rail[]): UpkeepTask {
  const own = new Set(rails.map(({ name }) => name));
  let said: string | undefined;
  let readAtMs = -Infinity;
  return {
    name: "unserved",
    async run(db, log) {
      if (performance.now() - readAtMs < everyMs) return;
      readAtMs = performance.now();
      const others = (await call(db, "outbox.rail_status", {})).filter(({ rail }) => !own.has(rail));
      const left = deserted(others);
      const names = left.map(({ rail }) => rail).join(", ");
      const isFirst = said === undefined;
      if (said === names) return;
      said = names;
      for (const row of left) {
        const message = `${waitingWords([row])}, which no relay serves. Start one that does: ${bringsRail(row.rail)}`;
        log({ level: "warn", event: "rail_not_served", rail: row.rail, rows: row.waiting, message });
      }
      const quiet = others.filter((row) => !left.includes(row)).map(({ rail }) => rail);
      if (!isFirst || quiet.length === 0) return;
      const message = `Not served here: ${quiet.join(", ")}. Nothing waits for them, or another relay serves them.`;
      log({ level: "info", event: "rails_not_served", message });
    },
  };
}

/**
 * The rail `log`: delivers by writing a line to the terminal. It is there so that the first row that somebody enqueues goes
 * somewhere they can see, before they have a rail of their own. Payloads are not shown: terminals are recorded, too.
 */
import type { Rail } from "../../contract/rail.ts";
import type { Log } from "./log.ts";

export function createLogRail(log: Log): Rail {
  return {
    name: "log",
    capability: "idempotent",
    timeoutMs: 1_000,
    send(message) {
      const { stream, key, seq, outboxId } = message;
      log({ level: "info", event: "delivered", stream, key, seq, outboxId });
      return { kind: "delivered", code: "logged" };
    },
  };
}

/**
 * The rail `log`: delivers by writing a line to the terminal, so that people can see the delivery of their first row before
 * they have their own rail. Payloads are not shown: terminals are recorded too.
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

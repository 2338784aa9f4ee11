/** `headroom outbox …`: the operator's view of the delivery engine, and the handling of dead letters. */
import type { Command } from "commander";
import { registerAlerts } from "./alerts.ts";
import { registerDead } from "./dead.ts";
import { registerDestinations } from "./destinations.ts";
import { registerInspect } from "./inspect.ts";
import { registerRedrive } from "./redrive.ts";
import { registerResolve } from "./resolve.ts";
import { registerRetryNow } from "./retry-now.ts";
import { registerSkip } from "./skip.ts";
import { registerStatus } from "./status.ts";
import { registerStream } from "./stream.ts";

export function register(program: Command): void {
  const outbox = program
    .command("outbox")
    .description("look at streams and rows, handle dead letters, set alerts, stream settings and limits");
  registerStatus(outbox);
  registerDead(outbox);
  registerInspect(outbox);
  registerRedrive(outbox);
  registerRetryNow(outbox);
  registerSkip(outbox);
  registerResolve(outbox);
  registerAlerts(outbox);
  registerStream(outbox);
  registerDestinations(outbox);
}

/** `headroom outbox …`: what an operator sees of the delivery engine, and does about its dead letters. */
import type { Command } from "commander";
import { registerAlerts } from "./outbox/alerts.ts";
import { registerDead } from "./outbox/dead.ts";
import { registerDestinations } from "./outbox/destinations.ts";
import { registerInspect } from "./outbox/inspect.ts";
import { registerRedrive } from "./outbox/redrive.ts";
import { registerResolve } from "./outbox/resolve.ts";
import { registerSkip } from "./outbox/skip.ts";
import { registerStatus } from "./outbox/status.ts";
import { registerStream } from "./outbox/stream.ts";

export function register(program: Command): void {
  const outbox = program
    .command("outbox")
    .description("look at streams and rows, work dead letters, keep alerts, settings and limits");
  registerStatus(outbox);
  registerDead(outbox);
  registerInspect(outbox);
  registerRedrive(outbox);
  registerSkip(outbox);
  registerResolve(outbox);
  registerAlerts(outbox);
  registerStream(outbox);
  registerDestinations(outbox);
}

/** `headroom jobs …`: the workflow runs that provide what confirmed requests ask for. */
import type { Command } from "commander";
import { registerActions } from "./actions.ts";
import { registerConnect } from "./connect.ts";
import { registerList } from "./list.ts";
import { registerLogs } from "./logs.ts";
import { registerSecret } from "./secret.ts";
import { registerShow } from "./show.ts";

export function register(program: Command): void {
  const jobs = program
    .command("jobs")
    .description("look after provisioning jobs, and connect the workflows that run them");
  registerList(jobs);
  registerShow(jobs);
  registerLogs(jobs);
  registerActions(jobs);
  registerConnect(jobs);
  registerSecret(jobs);
}

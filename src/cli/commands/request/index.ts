/** `headroom request …`: capacity requests, created and decided by members of a workspace. */
import type { Command } from "commander";
import { registerCan } from "./can.ts";
import { registerCreate } from "./create.ts";
import { registerCustomer } from "./customer.ts";
import { registerDecisions } from "./decisions.ts";
import { registerErase } from "./erase.ts";
import { registerList } from "./list.ts";
import { registerNote } from "./note.ts";
import { registerNudge } from "./nudge.ts";
import { registerPreview } from "./preview.ts";
import { registerReceipt } from "./receipt.ts";
import { registerShow } from "./show.ts";

export function register(program: Command): void {
  const request = program.command("request").description("ask for capacity, look at requests and decide them");
  registerCreate(request);
  registerPreview(request);
  registerList(request);
  registerShow(request);
  registerCan(request);
  registerReceipt(request);
  registerDecisions(request);
  registerCustomer(request);
  registerNudge(request);
  registerNote(request);
  registerErase(request);
}

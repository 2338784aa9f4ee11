/** `headroom request …`: capacity requests, from asking to answering, for a member of the workspace. */
import type { Command } from "commander";
import { registerCreate } from "./request/create.ts";
import { registerCustomer } from "./request/customer.ts";
import { registerDecisions } from "./request/decisions.ts";
import { registerErase } from "./request/erase.ts";
import { registerList } from "./request/list.ts";
import { registerNote } from "./request/note.ts";
import { registerNudge } from "./request/nudge.ts";
import { registerPreview } from "./request/preview.ts";
import { registerShow } from "./request/show.ts";

export function register(program: Command): void {
  const request = program.command("request").description("ask for capacity, look at requests, and decide them");
  registerCreate(request);
  registerPreview(request);
  registerList(request);
  registerShow(request);
  registerDecisions(request);
  registerCustomer(request);
  registerNudge(request);
  registerNote(request);
  registerErase(request);
}

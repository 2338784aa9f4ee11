/** `headroom endpoint …`: where webhooks go, what they are signed with, and which events each endpoint is sent. */
import type { Command } from "commander";
import { registerAdd } from "./add.ts";
import { registerEnable } from "./enable.ts";
import { registerList } from "./list.ts";
import { registerRemove } from "./remove.ts";
import { registerReplay } from "./replay.ts";
import { registerRotate } from "./rotate.ts";
import { registerSubscribe } from "./subscribe.ts";
import { registerTest } from "./test.ts";

export function register(program: Command): void {
  const endpoint = program.command("endpoint").description("manage the endpoints that webhooks are sent to");
  registerAdd(endpoint);
  registerList(endpoint);
  registerRotate(endpoint);
  registerEnable(endpoint);
  registerRemove(endpoint);
  registerTest(endpoint);
  registerReplay(endpoint);
  registerSubscribe(endpoint);
}

/** `headroom endpoint …`: where webhooks go, what they are signed with, and which topics each endpoint hears of. */
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
  const endpoint = program.command("endpoint").description("keep the endpoints that webhooks go to");
  registerAdd(endpoint);
  registerList(endpoint);
  registerRotate(endpoint);
  registerEnable(endpoint);
  registerRemove(endpoint);
  registerTest(endpoint);
  registerReplay(endpoint);
  registerSubscribe(endpoint);
}

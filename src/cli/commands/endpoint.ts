/** `headroom endpoint …`: where webhooks go, what they are signed with, and which topics each endpoint hears of. */
import type { Command } from "commander";
import { registerAdd } from "./endpoint/add.ts";
import { registerList } from "./endpoint/list.ts";
import { registerReplay } from "./endpoint/replay.ts";
import { registerRotate } from "./endpoint/rotate.ts";
import { registerSubscribe } from "./endpoint/subscribe.ts";
import { registerSwitches } from "./endpoint/switches.ts";
import { registerTest } from "./endpoint/test.ts";

export function register(program: Command): void {
  const endpoint = program.command("endpoint").description("keep the endpoints that webhooks go to");
  registerAdd(endpoint);
  registerList(endpoint);
  registerRotate(endpoint);
  registerSwitches(endpoint);
  registerTest(endpoint);
  registerReplay(endpoint);
  registerSubscribe(endpoint);
}

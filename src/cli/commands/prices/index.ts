/** `headroom prices …`: what capacity costs, the exchange rates that approval rules use, and how a workspace accepts payments. */
import type { Command } from "commander";
import { registerList } from "./list.ts";
import { registerRates } from "./rates.ts";
import { registerSet } from "./set.ts";
import { registerSettings } from "./settings.ts";
import { registerWithdraw } from "./withdraw.ts";

export function register(program: Command): void {
  const prices = program
    .command("prices")
    .description("set what capacity costs; where there is a price, the customer confirms by paying");
  registerList(prices);
  registerSet(prices);
  registerWithdraw(prices);
  registerRates(prices);
  registerSettings(prices);
}

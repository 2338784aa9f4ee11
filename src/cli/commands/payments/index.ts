/** `headroom payments …`: what customers paid, what was refunded, and whether it agrees with Stripe. */
import type { Command } from "commander";
import { registerBalance } from "./balance.ts";
import { registerEnd } from "./end.ts";
import { registerFindings } from "./findings.ts";
import { registerList } from "./list.ts";
import { registerReconcile } from "./reconcile.ts";
import { registerRefund } from "./refund.ts";
import { registerShow } from "./show.ts";

export function register(program: Command): void {
  const payments = program
    .command("payments")
    .description(
      "look after payments: list and show them, refund, end subscriptions, compare with Stripe, and read the books",
    );
  registerList(payments);
  registerShow(payments);
  registerRefund(payments);
  registerEnd(payments);
  registerReconcile(payments);
  registerBalance(payments);
  registerFindings(payments);
}

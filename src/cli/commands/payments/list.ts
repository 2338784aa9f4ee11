/** `headroom payments list`: payments, newest first; or, with --waiting, all money that waits for something. */
import { type Command, Option } from "commander";
import {
  formatAmount,
  listPayments,
  listWaiting,
  type ListedPayment,
  type WaitingMoney,
} from "../../../billing/index.ts";
import { HeadroomError } from "../../../db/errors.ts";
import { parseRequestId } from "../../acting.ts";
import { withDatabase } from "../../database.ts";
import { inWords } from "../../words/money-words.ts";
import { addCommon, parseWhole, type CommonOptions } from "../../options.ts";
import { formatAge, printJson, printLine, printTable } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { requireWorkspace } from "../../workspace.ts";

interface ListOptions extends CommonOptions {
  readonly waiting?: boolean;
  readonly request?: string;
  readonly workspace?: string;
  readonly limit: number;
}

export function registerList(payments: Command): void {
  addCommon(
    payments
      .command("list")
      .description("list payments, newest first; or what waits for something, longest first")
      .option("--waiting", "payments, refunds, disputes and findings that wait for something")
      .option("--request <id>", "only of this request", parseRequestId)
      .addOption(new Option("--workspace <id>", "only of this workspace (default: all)").env("HEADROOM_WORKSPACE"))
      .option("--limit <rows>", "most rows, up to 10000", parseWhole(1, 10_000), 50),
  ).action(runList);
}

async function runList(options: ListOptions): Promise<void> {
  const { workspace: workspaceId, request: requestId, limit } = options;
  if (options.waiting === true) {
    if (requestId !== undefined) {
      throw new HeadroomError("usage", "--waiting and --request cannot be used together.", {
        hint: `For one request: headroom payments show ${requestId}`,
      });
    }
    return runWaiting(options);
  }
  const { payments } = await withDatabase(options, "payments list", async (client) => {
    const listed = orFail(await listPayments(client, { workspaceId, requestId, limit }));
    if (listed.payments.length === 0 && workspaceId !== undefined) await requireWorkspace(client, workspaceId);
    return listed;
  });
  if (options.json === true) printJson({ payments });
  else show(payments, limit);
}

async function runWaiting(options: ListOptions): Promise<void> {
  const { workspace: workspaceId, limit } = options;
  const { waiting } = await withDatabase(options, "payments list", async (client) => {
    const listed = orFail(await listWaiting(client, { workspaceId, limit }));
    if (listed.waiting.length === 0 && workspaceId !== undefined) await requireWorkspace(client, workspaceId);
    return listed;
  });
  if (options.json === true) printJson({ waiting });
  else showWaiting(waiting, limit);
}

function more(count: number, limit: number): void {
  if (count === limit) printLine(`\nThere may be more: --limit ${Math.min(limit * 2, 10_000)}`);
}

function show(payments: readonly ListedPayment[], limit: number): void {
  if (payments.length === 0) return printLine("No payments match.");
  printTable(payments, [
    { title: "PAYMENT", value: (row) => row.id },
    { title: "REQUEST", value: (row) => row.requestId },
    { title: "AMOUNT", value: (row) => formatAmount(row.currency, row.amount), align: "right" },
    { title: "LEFT", value: (row) => formatAmount(row.currency, row.left), align: "right" },
    { title: "STANDS", value: (row) => inWords(row.status) },
    { title: "FOR", value: (row) => row.purpose },
    { title: "GOES BACK", value: (row) => row.refundReason },
    { title: "PAID", value: (row) => row.paidAt },
    { title: "AT STRIPE", value: (row) => row.paymentIntent },
    { title: "WORKSPACE", value: (row) => row.workspaceId },
  ]);
  more(payments.length, limit);
  const urgent = payments.find(({ status }) => status === "disputed" || status === "refund_held");
  if (urgent !== undefined) printLine(`\nNext: headroom payments show ${urgent.id}`);
}

function showWaiting(waiting: readonly WaitingMoney[], limit: number): void {
  if (waiting.length === 0) return printLine("No money waits for anything.");
  const now = Date.now();
  printTable(waiting, [
    { title: "WAITS FOR", value: (row) => row.state },
    { title: "SINCE", value: (row) => formatAge(Math.max(0, (now - row.since.getTime()) / 1_000)), align: "right" },
    { title: "REQUEST", value: (row) => row.requestId },
    {
      title: "AMOUNT",
      value: (row) => (row.currency === null || row.amount === null ? null : formatAmount(row.currency, row.amount)),
      align: "right",
    },
    { title: "PAYMENT", value: (row) => row.paymentId },
    { title: "AT STRIPE", value: (row) => row.stripeId },
    { title: "WORKSPACE", value: (row) => row.workspaceId },
  ]);
  more(waiting.length, limit);
  printLine(`\nNext: ${nextFor(waiting)}`);
}

/** The most urgent first: what continues only when a person acts. */
function nextFor(waiting: readonly WaitingMoney[]): string {
  if (waiting.some(({ state }) => state === "finding")) return "headroom payments findings";
  const urgent =
    waiting.find(({ state }) => ["refund_held_person", "refund_failed", "disputed"].includes(state)) ?? waiting[0];
  return `headroom payments show ${urgent?.paymentId ?? urgent?.requestId ?? "<payment>"}`;
}

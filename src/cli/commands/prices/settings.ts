/** `headroom prices settings`: how a workspace accepts payments. */
import type { Command } from "commander";
import type { Client } from "pg";
import {
  listSettings,
  putSettings,
  type BillingSettings,
  type BillingSettingsChanges,
} from "../../../billing/index.ts";
import { withDatabase } from "../../database.ts";
import { currencyOption } from "../../money-options.ts";
import { addCommon, emptied, parseWhole, type CommonOptions } from "../../options.ts";
import { printFacts, printJson } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { requireWorkspace, workspaceOption, type WorkspaceOption } from "../../workspace.ts";

interface SettingsOptions extends CommonOptions, WorkspaceOption {
  readonly currency?: string;
  readonly sessionMinutes?: number;
  readonly holdDays?: number;
  readonly graceDays?: number;
  /** False: cleared. */
  readonly selfService?: string | false;
}

export function registerSettings(prices: Command): void {
  addCommon(
    prices
      .command("settings")
      .description("show how a workspace accepts payments, or change the settings given here")
      .addOption(
        currencyOption("the currency of new prices, and which price applies if several differ only in currency"),
      )
      .option("--session-minutes <count>", "how long a payment page at Stripe stays open", parseWhole(30, 1_440))
      .option("--hold-days <count>", "how long an offer waits for a payment that is being processed", parseWhole(1, 60))
      .option("--grace-days <count>", "how long a renewal may fail before people are notified", parseWhole(0, 90))
      .option("--self-service <member>", "open the wizard: it submits requests in this member's name")
      .option("--no-self-service", "close the wizard")
      .addOption(workspaceOption()),
  ).action(runSettings);
}

async function runSettings(options: SettingsOptions): Promise<void> {
  const settings = await withDatabase(options, "prices settings", (client) => readOrChange(client, options));
  if (options.json === true) printJson({ settings });
  else show(settings);
}

async function readOrChange(client: Client, options: SettingsOptions): Promise<BillingSettings> {
  const changes: BillingSettingsChanges = {
    currency: options.currency,
    sessionMinutes: options.sessionMinutes,
    holdDays: options.holdDays,
    graceDays: options.graceDays,
    selfServiceRequester: emptied(options.selfService),
  };
  if (Object.values(changes).every((value) => value === undefined)) {
    const found = (await listSettings(client)).find(({ workspaceId }) => workspaceId === options.workspace);
    if (found !== undefined) return found;
    await requireWorkspace(client, options.workspace);
  }
  return orFail(await putSettings(client, options.workspace, changes)).settings;
}

function show(settings: BillingSettings): void {
  printFacts([
    ["workspace", settings.workspaceId],
    ["currency", settings.currency],
    ["a payment page", `stays open for ${settings.sessionMinutes} min at most`],
    ["payment processing", `holds an offer for ${settings.holdDays} days beyond its deadline`],
    ["a renewal that fails", `is reported immediately, and as unpaid after ${settings.graceDays} days`],
    [
      "self-service wizard",
      settings.selfServiceRequester === null ? "closed" : `submits as ${settings.selfServiceRequester}`,
    ],
  ]);
}

/** `headroom endpoint enable`, `disable` and `remove`. */
import type { Command } from "commander";
import { disableEndpoint, enableEndpoint, removeEndpoint, type EndpointOwner } from "../../../webhooks/endpoints.ts";
import { withDatabase } from "../../database.ts";
import { printJson, printLine } from "../../output.ts";
import { addCommon, type CommonOptions } from "../request/acting.ts";
import { workspaceOption, type OwnerOption } from "./owner.ts";

type SwitchOptions = CommonOptions & OwnerOption;

interface DisableOptions extends SwitchOptions {
  readonly reason?: string;
}

export function registerSwitches(endpoint: Command): void {
  addCommon(
    endpoint
      .command("enable")
      .description("let an endpoint hear of events again")
      .argument("<name>", "the endpoint")
      .addOption(workspaceOption()),
  ).action(runEnable);
  addCommon(
    endpoint
      .command("disable")
      .description("stop an endpoint: nothing is sent to it, and what waits for it dies as endpoint_disabled")
      .argument("<name>", "the endpoint")
      .option("--reason <text>", "why; shown wherever the endpoint is")
      .addOption(workspaceOption()),
  ).action(runDisable);
  addCommon(
    endpoint
      .command("remove")
      .description("remove an endpoint and its secrets, for good")
      .argument("<name>", "the endpoint")
      .addOption(workspaceOption()),
  ).action(runRemove);
}

async function runEnable(name: string, options: SwitchOptions): Promise<void> {
  await withDatabase(options, "endpoint enable", (client) => enableEndpoint(client, name, ownerOf(options)));
  if (options.json === true) return printJson({ name, enabled: true });
  printLine(`${name} is enabled.`);
  printLine('What died waiting for it:  headroom outbox redrive --code endpoint_disabled --reason "…"');
  if (options.workspace === undefined)
    printLine(`What it missed meanwhile:  headroom endpoint replay ${name} --from 24h`);
}

async function runDisable(name: string, options: DisableOptions): Promise<void> {
  await withDatabase(options, "endpoint disable", (client) =>
    disableEndpoint(client, name, { ...ownerOf(options), reason: options.reason }),
  );
  if (options.json === true) return printJson({ name, enabled: false });
  printLine(`${name} is disabled. Relays that are running see it within two seconds.`);
}

async function runRemove(name: string, options: SwitchOptions): Promise<void> {
  await withDatabase(options, "endpoint remove", (client) => removeEndpoint(client, name, ownerOf(options)));
  if (options.json === true) return printJson({ name, removed: true });
  printLine(`${name} is removed, and its secrets with it. What still waits for it becomes a dead letter.`);
}

function ownerOf({ workspace }: OwnerOption): EndpointOwner {
  return { workspaceId: workspace };
}

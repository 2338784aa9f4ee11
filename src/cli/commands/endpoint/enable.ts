/** `headroom endpoint enable` and `headroom endpoint disable`: whether anything is sent to an endpoint. */
import type { Command } from "commander";
import { disableEndpoint, enableEndpoint } from "../../../webhooks/endpoints.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, type CommonOptions } from "../../options.ts";
import { printJson, printLine } from "../../output.ts";
import { ownerOf, ownerOption, type OwnerOption } from "./owner.ts";

type EnableOptions = CommonOptions & OwnerOption;

interface DisableOptions extends EnableOptions {
  readonly reason?: string;
}

export function registerEnable(endpoint: Command): void {
  addCommon(
    endpoint
      .command("enable")
      .description("send to an endpoint again")
      .argument("<name>", "the endpoint")
      .addOption(ownerOption()),
  ).action(runEnable);
  addCommon(
    endpoint
      .command("disable")
      .description("stop sending to an endpoint; rows that wait for it become dead letters (endpoint_disabled)")
      .argument("<name>", "the endpoint")
      .option("--reason <text>", "why; shown with the endpoint")
      .addOption(ownerOption()),
  ).action(runDisable);
}

async function runEnable(name: string, options: EnableOptions): Promise<void> {
  await withDatabase(options, "endpoint enable", (client) => enableEndpoint(client, name, ownerOf(options)));
  if (options.json === true) return printJson({ name, enabled: true });
  printLine(`${name} is enabled.`);
  printLine('Send its dead letters:  headroom outbox redrive --code endpoint_disabled --reason "…"');
  if (options.workspace === undefined) printLine(`Send what it missed:    headroom endpoint replay ${name} --from 24h`);
}

async function runDisable(name: string, options: DisableOptions): Promise<void> {
  await withDatabase(options, "endpoint disable", (client) =>
    disableEndpoint(client, name, { ...ownerOf(options), reason: options.reason }),
  );
  if (options.json === true) return printJson({ name, enabled: false });
  printLine(`${name} is disabled. Running relays stop sending within two seconds.`);
}

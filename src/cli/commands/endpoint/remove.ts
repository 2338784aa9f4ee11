/** `headroom endpoint remove`: removes an endpoint permanently. */
import type { Command } from "commander";
import { removeEndpoint } from "../../../webhooks/endpoints.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, type CommonOptions } from "../../options.ts";
import { printJson, printLine } from "../../output.ts";
import { ownerOf, ownerOption, type OwnerOption } from "./owner.ts";

export function registerRemove(endpoint: Command): void {
  addCommon(
    endpoint
      .command("remove")
      .description("remove an endpoint and its secrets permanently")
      .argument("<name>", "the endpoint")
      .addOption(ownerOption()),
  ).action(runRemove);
}

async function runRemove(name: string, options: CommonOptions & OwnerOption): Promise<void> {
  await withDatabase(options, "endpoint remove", (client) => removeEndpoint(client, name, ownerOf(options)));
  if (options.json === true) return printJson({ name, removed: true });
  printLine(`${name} was removed, and its secrets with it. Rows that still wait for it become dead letters.`);
}

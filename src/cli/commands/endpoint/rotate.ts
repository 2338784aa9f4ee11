/** `headroom endpoint rotate`: a new secret, while the old one signs too for some hours. */
import type { Command } from "commander";
import { rotateEndpointSecret } from "../../../webhooks/endpoints.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, parseWhole, type CommonOptions } from "../../options.ts";
import { printJson, printLine } from "../../output.ts";
import { findSecretKey, secretKeyOption } from "../../secret-key.ts";
import { ownerOption, type OwnerOption } from "./owner.ts";
import { showSecret } from "./secret.ts";

interface RotateOptions extends CommonOptions, OwnerOption {
  readonly hours: number;
  readonly secretKey?: string;
}

export function registerRotate(endpoint: Command): void {
  addCommon(
    endpoint
      .command("rotate")
      .description("give an endpoint a new secret, shown only once; the old one also signs for a while")
      .argument("<name>", "the endpoint")
      .option("--hours <hours>", "how long the old secret also signs; 0 ends it now", parseWhole(0, 720), 24)
      .addOption(ownerOption())
      .addOption(secretKeyOption()),
  ).action(runRotate);
}

async function runRotate(name: string, options: RotateOptions): Promise<void> {
  const key = await findSecretKey(options);
  const secret = await withDatabase(options, "endpoint rotate", (client) =>
    rotateEndpointSecret(client, name, { key, windowHours: options.hours, workspaceId: options.workspace }),
  );
  if (options.json === true) return printJson({ name, secret, oldSecretForHours: options.hours });
  printLine(`${name} has a new secret.`);
  showSecret(secret);
  printLine(
    options.hours === 0
      ? "The old one no longer signs: a receiver that still checks with it refuses requests from now on."
      : `The old one also signs for ${options.hours} hours.`,
  );
}

/** `headroom endpoint rotate`: a new secret, beside the old one for a while. */
import type { Command } from "commander";
import { rotateEndpointSecret } from "../../../webhooks/endpoints.ts";
import { withDatabase } from "../../database.ts";
import { printJson, printLine } from "../../output.ts";
import { findSecretKey, secretKeyOption } from "../../secret-key.ts";
import { addCommon, parseWhole, type CommonOptions } from "../request/acting.ts";
import { workspaceOption, type OwnerOption } from "./owner.ts";
import { showSecret } from "./secret.ts";

interface RotateOptions extends CommonOptions, OwnerOption {
  readonly hours: number;
  readonly secretKey?: string;
}

export function registerRotate(endpoint: Command): void {
  addCommon(
    endpoint
      .command("rotate")
      .description("give an endpoint a new secret, shown this once; the old one signs beside it for a while")
      .argument("<name>", "the endpoint")
      .option("--hours <hours>", "how long the old secret goes on signing; 0 ends it now", parseWhole(0, 720), 24)
      .addOption(workspaceOption())
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
      ? "The old one has ended: requests that it would verify are refused from now on."
      : `The old one signs beside it for ${options.hours} hours.`,
  );
}

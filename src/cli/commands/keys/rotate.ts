/**
 * `headroom keys rotate`: from HEADROOM_SECRET_KEY_PREVIOUS to HEADROOM_SECRET_KEY. Everything that is encrypted is encrypted again with the
 * latter, while servers and relays that have both keep running. If it is interrupted, it can be run again.
 */
import type { Command } from "commander";
import { listSecrets, rotateSecretKey, type Resealed } from "../../../db/secrets/index.ts";
import { HeadroomError } from "../../../db/errors.ts";
import { withDatabase } from "../../database.ts";
import { ExitWith } from "../../exit.ts";
import { addCommon, parseWhole, type CommonOptions } from "../../options.ts";
import { printJson, printLine } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { findSecretKey, secretKeyOption } from "../../secret-key.ts";

interface RotateOptions extends CommonOptions {
  readonly secretKey?: string;
  readonly dryRun?: boolean;
  readonly lost?: boolean;
  readonly batch: number;
}

export function registerRotate(keys: Command): void {
  addCommon(
    keys
      .command("rotate")
      .description(
        "encrypt everything again with HEADROOM_SECRET_KEY that was encrypted with HEADROOM_SECRET_KEY_PREVIOUS",
      )
      .option("--dry-run", "only show what would be done")
      .option("--lost", "continue although some values were encrypted with a lost key; these are left unchanged")
      .option("--batch <count>", "how many values in one transaction", parseWhole(1, 10_000), 100)
      .addOption(secretKeyOption()),
  )
    .addHelpText(
      "after",
      "\nGive every server and relay both keys first. It can be run again at any time, also after it was interrupted.\ndocs/operating (Rotating keys) has the steps for this key and for the others.",
    )
    .action(runRotate);
}

async function runRotate(options: RotateOptions): Promise<void> {
  const key = await findSecretKey(options);
  const { dryRun, lost, batch, json } = options;
  const { inVault, result } = await withDatabase(options, "keys rotate", async (client) => {
    const { secrets } = orFail(await listSecrets(client));
    const ofVault = secrets.filter(({ keptIn }) => keptIn === "vault").length;
    if (key === undefined) return { inVault: ofVault, result: undefined };
    const rotated = orFail(await rotateSecretKey(client, { key, dryRun, lost, batch, onProgress }));
    return { inVault: ofVault + rotated.inVault, result: rotated };
  });
  if (result === undefined && inVault === 0) throw noKey();
  if (json === true) printJson({ outcome: "in_vault", ...result, inVault });
  else for (const line of describe(result, inVault)) printLine(line);
  if (result?.outcome === "unreadable" || (result?.outcome === "rotated" && result.previousNeeded))
    throw new ExitWith(1);
}

function onProgress(done: number, of: number): void {
  process.stderr.write(`${done} of ${Math.max(done, of)} done\n`);
}

function noKey(): HeadroomError {
  return new HeadroomError("usage", "HEADROOM_SECRET_KEY is not set.", {
    hint: "Set it to the new key, and HEADROOM_SECRET_KEY_PREVIOUS to the old one. Nothing was changed.",
  });
}

function describe(result: Resealed | undefined, inVault: number): string[] {
  const vault = `Vault encrypts ${inVault === 1 ? "1 secret" : `${inVault} secrets`} with its own key; rotate that with Supabase's tools.`;
  return [...(result === undefined ? [] : describeResult(result)), ...(inVault > 0 ? [vault] : [])];
}

function describeResult(result: Resealed): string[] {
  const { outcome, sealed, resealed, unreadable, previousNeeded } = result;
  const named = unreadable.map((name) => `  ${name}`);
  if (outcome === "unreadable") {
    return [
      `${unreadable.length} of ${sealed} values can be decrypted with neither key. Nothing was changed.`,
      ...named,
      "Set HEADROOM_SECRET_KEY_PREVIOUS to the key that they were encrypted with. If it is lost: headroom keys rotate --lost, then",
      "store these values again (headroom secret set, headroom endpoint rotate).",
    ];
  }
  if (outcome === "looked") {
    return [
      `${sealed} values are encrypted, ${resealed} of them not with HEADROOM_SECRET_KEY. ${unreadable.length} cannot be decrypted.`,
      ...named,
      previousNeeded ? "Nothing was changed. Next: headroom keys rotate" : nothingNeedsIt,
    ];
  }
  if (previousNeeded) {
    return [
      `${resealed} of ${sealed} values were encrypted again. ${unreadable.length} cannot be decrypted with HEADROOM_SECRET_KEY alone:`,
      ...named,
      "Store these values again (headroom secret set, headroom endpoint rotate), or run this again with the key that encrypted them.",
    ];
  }
  return [
    `${resealed} of ${sealed} values were encrypted again. Each was decrypted with HEADROOM_SECRET_KEY alone to check it.`,
    nothingNeedsIt,
  ];
}

const nothingNeedsIt =
  "Nothing needs HEADROOM_SECRET_KEY_PREVIOUS any more: remove it from the environment of every process, and restart them one after the other.";

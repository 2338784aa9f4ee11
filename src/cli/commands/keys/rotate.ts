/**
 * `headroom keys rotate`: from HEADROOM_SECRET_KEY_PREVIOUS to HEADROOM_SECRET_KEY. Everything that is sealed is sealed again under the latter,
 * while servers and relays that have both go on; ended in the middle, it is run again.
 */
import type { Command } from "commander";
import { listSecrets, rotateSecretKey, type Resealed } from "../../../capacity/index.ts";
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
      .description("seal everything again under HEADROOM_SECRET_KEY that HEADROOM_SECRET_KEY_PREVIOUS has sealed")
      .option("--dry-run", "only say what there is to be done")
      .option("--lost", "go on although some values were sealed under a key that is lost; they stay as they are")
      .option("--batch <count>", "how many in one transaction", parseWhole(1, 10_000), 100)
      .addOption(secretKeyOption()),
  )
    .addHelpText(
      "after",
      "\nGive every server and relay both keys first. It can be run again at any time, after it was ended in the middle too.\ndocs/operating has the steps (Rotating keys), and those for the other keys.",
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
    hint: "Set it to the new key, and HEADROOM_SECRET_KEY_PREVIOUS to the one before. Nothing was changed.",
  });
}

function describe(result: Resealed | undefined, inVault: number): string[] {
  const vault = `Vault keeps ${inVault} secret(s) under a key of its own, which is changed with Supabase's tools and not here.`;
  return [...(result === undefined ? [] : describeResult(result)), ...(inVault > 0 ? [vault] : [])];
}

function describeResult(result: Resealed): string[] {
  const { outcome, sealed, resealed, unreadable, previousNeeded } = result;
  const named = unreadable.map((name) => `  ${name}`);
  if (outcome === "unreadable") {
    return [
      `${unreadable.length} of ${sealed} values open under neither key. Nothing was changed.`,
      ...named,
      "Set HEADROOM_SECRET_KEY_PREVIOUS to the key that they were sealed under. If that is lost: headroom keys rotate --lost, then",
      "store them anew (headroom secret set, headroom endpoint rotate).",
    ];
  }
  if (outcome === "looked") {
    return [
      `${sealed} values are sealed, ${resealed} of them not under HEADROOM_SECRET_KEY. ${unreadable.length} cannot be opened.`,
      ...named,
      previousNeeded ? "Nothing was changed. Next: headroom keys rotate" : nothingNeedsIt,
    ];
  }
  if (previousNeeded) {
    return [
      `${resealed} of ${sealed} values were sealed again. ${unreadable.length} do not open under HEADROOM_SECRET_KEY alone:`,
      ...named,
      "Store them anew (headroom secret set, headroom endpoint rotate), or run this again with the key that sealed them.",
    ];
  }
  return [
    `${resealed} of ${sealed} values were sealed again. Each was opened with HEADROOM_SECRET_KEY alone.`,
    nothingNeedsIt,
  ];
}

const nothingNeedsIt =
  "Nothing needs HEADROOM_SECRET_KEY_PREVIOUS any more: take it away from every process, and restart them one after the other.";

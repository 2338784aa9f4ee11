/**
 * What an installation by `headroom up` keeps next to its data: the keys that it made at its first start.
 *
 * Owns: making them, and keeping them in a file that only its owner can read. Does not own: their use. A production
 * installation gets its keys from the environment instead.
 */
import { generateKeyPair, randomBytes } from "node:crypto";
import { chmod, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { HeadroomError, nodeCodeOf } from "../db/errors.ts";
import { makeGatewayKeys, randomKey } from "./make-keys.ts";

const keysSchema = z.strictObject({
  jwtSecret: z.string().min(32),
  anonKey: z.string(),
  serviceKey: z.string(),
  secretKey: z.string().min(32),
  relaySecret: z.string().min(32),
  gatewayPassword: z.string().min(32),
  confirmationTokenSecret: z.string().min(32),
  slackSigningSecret: z.string().min(32),
  linearWebhookSecret: z.string().min(32),
  githubWebhookSecret: z.string().min(32),
  stripeWebhookSecret: z.string().min(32),
  /** Workflow runs sign their callbacks with it. */
  provisioningCallbackSecret: z.string().min(32),
  /** For stand-ins of providers that sign with a key pair, as PEM. */
  privateKey: z.string().startsWith("-----BEGIN"),
});

export type InstallationKeys = z.infer<typeof keysSchema>;

/** A folder from before there were callbacks has no secret for them; its next start makes one. */
const keptSchema = keysSchema.partial({ provisioningCallbackSecret: true });
export type KeptKeys = z.infer<typeof keptSchema>;

const fileName = "keys.json";

export async function makeInstallationKeys(): Promise<InstallationKeys> {
  return {
    ...(await makeGatewayKeys()),
    secretKey: randomKey(),
    relaySecret: randomKey(),
    gatewayPassword: randomKey(),
    confirmationTokenSecret: randomKey(),
    // In the providers' formats: Slack and Linear in hexadecimal digits, Stripe with a prefix.
    slackSigningSecret: randomBytes(16).toString("hex"),
    linearWebhookSecret: randomBytes(32).toString("hex"),
    githubWebhookSecret: randomKey(),
    stripeWebhookSecret: `whsec_${randomBytes(24).toString("hex")}`,
    provisioningCallbackSecret: makeCallbackSecret(),
    privateKey: await makePrivateKey(),
  };
}

function makeCallbackSecret(): string {
  return randomBytes(32).toString("hex");
}

async function makePrivateKey(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)("rsa", { modulusLength: 2048 });
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

/** The keys of the folder: made and written at the first start, and read at every later one. */
export async function keepInstallationKeys(folder: string): Promise<InstallationKeys> {
  const path = join(folder, fileName);
  const kept = await readKeys(path);
  const whole = keysSchema.safeParse(kept);
  if (whole.success) return whole.data;
  const keys =
    kept === undefined ? await makeInstallationKeys() : { ...kept, provisioningCallbackSecret: makeCallbackSecret() };
  // Written under another name and renamed, so that a killed start leaves no half-written file.
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600 });
  await chmod(draft, 0o600);
  await rename(draft, path);
  return keys;
}

/** The keys of the folder, if it has any. */
export function readInstallationKeys(folder: string): Promise<KeptKeys | undefined> {
  return readKeys(join(folder, fileName));
}

async function readKeys(path: string): Promise<KeptKeys | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    if (nodeCodeOf(cause) === "ENOENT") return undefined;
    throw new HeadroomError("usage", `The keys in ${path} cannot be read.`, {
      hint: "Run it as the user who ran it first.",
      cause,
    });
  }
  const parsed = keptSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new HeadroomError("usage", `The key file ${path} is damaged.`, {
    detail: parsed.error.issues.map((issue) => issue.path.join(".")).join(", "),
    hint: "Restore it from a backup. If there is none, delete it: new keys are made, and secrets that were encrypted with the old ones must be stored again.",
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * `headroom keys token` and `headroom keys service`: an API key for a member, or for a program that acts for members. Each is first
 * registered in the database, under an id by which it can be revoked, and then signed here. `headroom keys anon` signs the key that any
 * client may have; it gives no rights, so there is nothing to revoke.
 */
import { randomBytes } from "node:crypto";
import { InvalidArgumentError, Option, type Command } from "commander";
import { registerApiKey, type KeyHolder } from "../../../directory/index.ts";
import { HeadroomError } from "../../../db/errors.ts";
import { withDatabase } from "../../database.ts";
import { signToken, tokenScope, type TokenClaims } from "../../make-keys.ts";
import { addCommon, type CommonOptions } from "../../options.ts";
import { printJson, printLine } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { findLocalKeys } from "../../secret-key.ts";
import { workspaceOption, type WorkspaceOption } from "../../workspace.ts";

interface IssueOptions extends CommonOptions {
  readonly id?: string;
  readonly ttl?: number;
  readonly note?: string;
}

interface TokenOptions extends IssueOptions, WorkspaceOption {
  readonly member: string;
}

export function registerIssue(keys: Command): void {
  addIssueOptions(
    keys
      .command("token")
      .description("issue an API key to a member; the log names that member for actions with the key")
      .requiredOption("--member <id>", "whose key it is")
      .addOption(workspaceOption()),
    defaultTtl,
  ).action(runToken);
  addIssueOptions(
    keys
      .command("service")
      .description("issue an API key to a program, which may act for any member; the log names the key's id"),
    undefined,
  ).action(runService);
}

export function registerAnon(keys: Command): void {
  addCommon(
    keys
      .command("anon")
      .description("sign the anon key again, after HEADROOM_JWT_SECRET has changed; any client may have it"),
  )
    .addHelpText("after", signedWith)
    .action(runAnon);
}

async function runAnon(options: CommonOptions): Promise<void> {
  const jwtSecret = await requireJwtSecret(options);
  const token = await signToken({ role: "anon" }, { ...tokenScope(process.env), jwtSecret, expiresAt: null });
  if (options.json === true) return printJson({ HEADROOM_ANON_KEY: token });
  printLine(token);
  process.stderr.write("Give it to clients as HEADROOM_ANON_KEY. It is valid as long as HEADROOM_JWT_SECRET is.\n");
}

const defaultTtl = 30 * 24 * 3600;

const signedWith =
  "\nThe key is signed with HEADROOM_JWT_SECRET from the environment, or with the secret of the `headroom up` that runs in this folder.\nHEADROOM_JWT_ISSUER and HEADROOM_JWT_AUDIENCE must be the same as the server's. The key is shown once and stored nowhere.";

function addIssueOptions(command: Command, ttl: number | undefined): Command {
  return addCommon(
    command
      .option("--id <id>", "a name for the key, never used before (default: a random one)")
      .addOption(
        new Option(
          "--ttl <time>",
          `how long it is valid, such as 12h or 30d${ttl === undefined ? " (default: until it is revoked)" : ""}`,
        )
          .argParser(parseTtl)
          .default(ttl, "30d"),
      )
      .option("--note <text>", "what it is for"),
  ).addHelpText("after", signedWith);
}

/** Seconds. */
function parseTtl(text: string): number {
  const [, count, unit] = /^(\d{1,5})(m|h|d)$/.exec(text.trim()) ?? [];
  const seconds = Number(count) * { m: 60, h: 3600, d: 86_400 }[unit === "m" || unit === "h" ? unit : "d"];
  if (count !== undefined && seconds > 0 && seconds <= 3660 * 86_400) return seconds;
  throw new InvalidArgumentError("Give a time such as 30m, 12h or 30d, ten years at most.");
}

async function runToken(options: TokenOptions): Promise<void> {
  const { member: memberId, workspace: workspaceId } = options;
  await issue(
    options,
    "keys token",
    { kind: "member", workspaceId, memberId },
    {
      role: "authenticated",
      sub: memberId,
      app_metadata: { workspace_id: workspaceId, member_id: memberId },
    },
  );
}

async function runService(options: IssueOptions): Promise<void> {
  await issue(options, "keys service", { kind: "service" }, { role: "service_role" });
}

async function issue(options: IssueOptions, command: string, holder: KeyHolder, claims: TokenClaims): Promise<void> {
  const jwtSecret = await requireJwtSecret(options);
  const id = options.id ?? `key-${randomBytes(6).toString("hex")}`;
  const expiresAt = options.ttl === undefined ? undefined : new Date(Date.now() + options.ttl * 1000);
  const registered = orFail(
    await withDatabase(options, command, (client) =>
      registerApiKey(client, { id, holder, expiresAt, note: options.note }),
    ),
  );
  const signed = { ...tokenScope(process.env), jwtSecret, expiresAt: expiresAt ?? null };
  const token = await signToken({ ...claims, key_id: id }, signed);
  if (options.json === true) return printJson({ id, token, expiresAt: registered.key.expiresAt });
  printLine(token);
  const until = expiresAt === undefined ? "until it is revoked" : `until ${expiresAt.toISOString()}`;
  // On stderr, so that the file of `headroom keys token … > file` contains only the key.
  process.stderr.write(`Valid ${until}. To revoke it: headroom keys revoke ${id}\n`);
}

async function requireJwtSecret(options: CommonOptions): Promise<string> {
  const secret = process.env["HEADROOM_JWT_SECRET"] || (await findLocalKeys(options))?.jwtSecret;
  if (secret !== undefined && secret.length >= 32) return secret;
  throw new HeadroomError("usage", "HEADROOM_JWT_SECRET is not set, or shorter than 32 characters.", {
    hint: "It must be the server's. Create one with: headroom keys init",
  });
}

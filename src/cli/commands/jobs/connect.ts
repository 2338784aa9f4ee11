/** `headroom jobs connect`: which repository's workflows provide a workspace's capacity, and how long they may take. */
import { type Command, InvalidArgumentError } from "commander";
import type { Client } from "pg";
import { HeadroomError } from "../../../db/errors.ts";
import type { SecretKey } from "../../../db/secrets/secret-key.ts";
import {
  listSettings,
  putCallbackSecret,
  putSettings,
  type ConnectedWorkflows,
  type JobSettingsChanges,
} from "../../../provisioning/index.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, emptied, parseWhole, type CommonOptions } from "../../options.ts";
import { printFacts, printJson, printLine } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { findSecretKey, secretKeyOption } from "../../secret-key.ts";
import { requireWorkspace, workspaceOption, type WorkspaceOption } from "../../workspace.ts";
import { showCallbackAddress, showNewSecret } from "./new-secret.ts";

interface ConnectOptions extends CommonOptions, WorkspaceOption {
  readonly repo?: readonly [owner: string, repo: string];
  readonly ref?: string;
  readonly workflow?: string;
  readonly cleanupWorkflow?: string;
  /** False: emptied. */
  readonly callbackUrl?: string | false;
  readonly staleMinutes?: number;
  readonly limitMinutes?: number;
  readonly mostAttempts?: number;
  readonly mostCleanups?: number;
  readonly retrySlaHours?: number;
  readonly giveUpHours?: number;
  readonly secretKey?: string;
}

export function registerConnect(jobs: Command): void {
  const command = jobs
    .command("connect")
    .description("show which workflows provide a workspace's capacity, or connect and change what is given here")
    .option("--repo <owner/name>", "the repository at GitHub that has the workflows", parseRepo)
    .option("--ref <ref>", "the branch or tag whose workflows run (at first: main)")
    .option("--workflow <file>", "the workflow that provisions (at first: provision.yml)")
    .option("--cleanup-workflow <file>", "the workflow that cleans up after a failed attempt (at first: cleanup.yml)")
    .option("--callback-url <url>", "the address to which runs report")
    .option("--no-callback-url", "runs report to the workspace's public address")
    .option("--stale-minutes <count>", "give up an attempt after this long without a report", parseWhole(1, 1_440))
    .option("--limit-minutes <count>", "give up an attempt after this long", parseWhole(1, 10_080))
    .option("--most-attempts <count>", "maximum number of attempts of a job", parseWhole(1, 20))
    .option("--most-cleanups <count>", "maximum number of tries to clean up after an attempt", parseWhole(1, 20))
    .option("--retry-sla-hours <count>", "a failed job that nobody retries is late after this", parseWhole(1, 8_760))
    .option("--give-up-hours <count>", "and fails permanently after this", parseWhole(1, 8_760))
    .addOption(workspaceOption())
    .addOption(secretKeyOption());
  addCommon(command).action(runConnect);
}

function parseRepo(text: string): readonly [string, string] {
  const [, owner, repo] = /^(?:https:\/\/github\.com\/)?([\w-]+)\/([\w.-]+?)(?:\.git)?\/?$/.exec(text.trim()) ?? [];
  if (owner !== undefined && repo !== undefined) return [owner, repo];
  throw new InvalidArgumentError("Give the owner and the name, such as acme/infrastructure.");
}

async function runConnect(options: ConnectOptions): Promise<void> {
  const key = await findSecretKey(options);
  const changes = toChanges(options);
  const isChange = Object.values(changes).some((value) => value !== undefined);
  const { connected, secret } = await withDatabase(options, "jobs connect", async (client) => ({
    secret: isChange ? await connect(client, options.workspace, changes, key) : null,
    connected: await findConnected(client, options.workspace, key),
  }));
  if (options.json === true) return printJson({ connected, ...(secret === null ? {} : { secret }) });
  if (connected === null) {
    printLine(`No workflow is connected for the workspace ${options.workspace}.`);
    return printLine(`Next: headroom jobs connect --workspace ${options.workspace} --repo <owner/name>`);
  }
  show(connected);
  if (secret !== null) showNewSecret(secret, connected);
  if (isChange && connected.callbackAddress !== null) showCallbackAddress(connected.callbackAddress, connected);
  showMissing(connected);
}

function toChanges(options: ConnectOptions): JobSettingsChanges {
  return {
    owner: options.repo?.[0],
    repo: options.repo?.[1],
    ref: options.ref,
    provisionWorkflow: options.workflow,
    cleanupWorkflow: options.cleanupWorkflow,
    callbackUrl: emptied(options.callbackUrl),
    staleMinutes: options.staleMinutes,
    limitMinutes: options.limitMinutes,
    mostAttempts: options.mostAttempts,
    mostCleanups: options.mostCleanups,
    retrySlaHours: options.retrySlaHours,
    giveUpHours: options.giveUpHours,
  };
}

/** Returns the secret if one had to be made. */
async function connect(
  client: Client,
  workspaceId: string,
  changes: JobSettingsChanges,
  key: SecretKey | undefined,
): Promise<string | null> {
  orFail(await putSettings(client, workspaceId, changes));
  const connected = await findConnected(client, workspaceId, key);
  if (connected?.secret !== "missing") return null;
  const stored = await putCallbackSecret(client, workspaceId, { key });
  if (stored.outcome === "stored") return stored.secret;
  throw new HeadroomError(stored.code, `It is connected, but no secret could be stored: ${stored.message}`, {
    detail: stored.detail,
    hint: `${stored.hint ?? ""} Then run: headroom jobs secret --rotate --workspace ${workspaceId}`.trim(),
  });
}

async function findConnected(
  client: Client,
  workspaceId: string,
  key: SecretKey | undefined,
): Promise<ConnectedWorkflows | null> {
  const found = (await listSettings(client, key)).find((row) => row.workspaceId === workspaceId);
  if (found === undefined) await requireWorkspace(client, workspaceId);
  return found ?? null;
}

const secretWords: Readonly<Record<ConnectedWorkflows["secret"], string>> = {
  readable: "stored",
  unreadable: "stored, but not readable with this HEADROOM_SECRET_KEY",
  missing: "missing",
};

function show(connected: ConnectedWorkflows): void {
  printFacts([
    ["workspace", connected.workspaceId],
    ["repository", `${connected.owner}/${connected.repo} at ${connected.ref}`],
    ["workflows", `${connected.provisionWorkflow}, and ${connected.cleanupWorkflow} to clean up`],
    ["runs report to", connected.callbackAddress ?? "nowhere: the workspace has no public address"],
    ["callback secret", secretWords[connected.secret]],
    [
      "an attempt ends",
      `after ${connected.staleMinutes} min without a report, or ${connected.limitMinutes} min in all`,
    ],
    ["attempts", `${connected.mostAttempts} at most; ${connected.mostCleanups} cleanups after each`],
    ["nobody retries", `late after ${connected.retrySlaHours} h, failed permanently after ${connected.giveUpHours} h`],
  ]);
}

function showMissing({ workspaceId, callbackAddress, secret }: ConnectedWorkflows): void {
  printLine();
  if (callbackAddress === null) {
    printLine("Jobs wait until runs have an address to report to:");
    printLine(
      `  headroom policy settings --workspace ${workspaceId} --public-url https://…   (or --callback-url here)`,
    );
  }
  if (secret === "missing") {
    printLine("Runs cannot report until there is a secret to sign with:");
    printLine(`  headroom jobs secret --rotate --workspace ${workspaceId}`);
  }
  printLine("Next: headroom doctor, which also checks our rights at GitHub");
}

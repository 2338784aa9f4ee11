/**
 * Which workflows provide a workspace's capacity, how long they may take, and the secret that their runs sign callbacks with.
 *
 * The secret is stored and used in the database; it is returned only once, when it is made.
 */
import { randomBytes } from "node:crypto";
import { call, type Queryable } from "../db/call.ts";
import { refusable, type Refused } from "../db/refusal.ts";
import { withSecretKey, type SecretKey } from "../db/secrets/secret-key.ts";

export interface JobSettings {
  readonly workspaceId: string;
  /** The owner of the repository at GitHub. */
  readonly owner: string;
  readonly repo: string;
  /** The branch or tag whose workflows run. */
  readonly ref: string;
  /** Names of files in .github/workflows. */
  readonly provisionWorkflow: string;
  readonly cleanupWorkflow: string;
  /** After this long without a sign of life an attempt is given up. */
  readonly staleMinutes: number;
  /** An attempt is given up this long after it was claimed, whatever it reports. */
  readonly limitMinutes: number;
  readonly mostAttempts: number;
  readonly mostCleanups: number;
  /** A failed job that nobody retries is reported as late after this time, */
  readonly retrySlaHours: number;
  /** and fails permanently after this. */
  readonly giveUpHours: number;
}

export interface ConnectedWorkflows extends JobSettings {
  /** Where runs report to; null if the workspace has no public address and none was given. */
  readonly callbackAddress: string | null;
  /** Whether there is a secret for callbacks, and this process can read it. */
  readonly secret: "readable" | "unreadable" | "missing";
}

export type JobSettingsChanges = {
  readonly [Field in keyof Omit<JobSettings, "workspaceId">]?: JobSettings[Field] | undefined;
} & {
  /** Null: /webhooks/provisioning below the workspace's public address. */
  readonly callbackUrl?: string | null | undefined;
};

/** Connects the workflows, or changes the given settings. Jobs that waited for it begin with the next sweep. */
export async function putSettings(
  db: Queryable,
  workspaceId: string,
  changes: JobSettingsChanges,
): Promise<{ readonly outcome: "put"; readonly settings: JobSettings } | Refused> {
  const row = await refusable(
    call(db, "provisioning.put_settings", {
      p_workspace_id: workspaceId,
      p_changes: {
        owner: changes.owner,
        repo: changes.repo,
        ref: changes.ref,
        provision_workflow: changes.provisionWorkflow,
        cleanup_workflow: changes.cleanupWorkflow,
        callback_url: changes.callbackUrl,
        stale_minutes: changes.staleMinutes,
        limit_minutes: changes.limitMinutes,
        most_attempts: changes.mostAttempts,
        most_cleanups: changes.mostCleanups,
        retry_sla_hours: changes.retrySlaHours,
        give_up_hours: changes.giveUpHours,
      },
    }),
  );
  return "outcome" in row ? row : { outcome: "put", settings: toSettings(row) };
}

/** The connected workflows of all workspaces. */
export async function listSettings(db: Queryable, key?: SecretKey): Promise<readonly ConnectedWorkflows[]> {
  const rows = await withSecretKey(db, key, () => call(db, "provisioning.list_settings", {}));
  return rows.map((row) => ({
    ...toSettings(row),
    callbackAddress: row.callback_address,
    secret: row.secret === "readable" || row.secret === "unreadable" ? row.secret : "missing",
  }));
}

type SettingsRow = Readonly<
  Record<"workspace_id" | "owner" | "repo" | "ref" | "provision_workflow" | "cleanup_workflow", string> &
    Record<
      "stale_minutes" | "limit_minutes" | "most_attempts" | "most_cleanups" | "retry_sla_hours" | "give_up_hours",
      number
    >
>;

function toSettings(row: SettingsRow): JobSettings {
  return {
    workspaceId: row.workspace_id,
    owner: row.owner,
    repo: row.repo,
    ref: row.ref,
    provisionWorkflow: row.provision_workflow,
    cleanupWorkflow: row.cleanup_workflow,
    staleMinutes: row.stale_minutes,
    limitMinutes: row.limit_minutes,
    mostAttempts: row.most_attempts,
    mostCleanups: row.most_cleanups,
    retrySlaHours: row.retry_sla_hours,
    giveUpHours: row.give_up_hours,
  };
}

/** Stores the secret that runs sign with, and returns it. The one before stays valid until it is dropped, or until the next is stored. */
export async function putCallbackSecret(
  db: Queryable,
  workspaceId: string,
  options: {
    /** HEADROOM_SECRET_KEY; not needed with Vault. */
    readonly key?: SecretKey | undefined;
    /** An existing secret. Default: one is made. */
    readonly secret?: string | undefined;
  } = {},
): Promise<{ readonly outcome: "stored"; readonly secret: string } | Refused> {
  const secret = options.secret ?? randomBytes(32).toString("hex");
  return refusable(
    withSecretKey(db, options.key, async () => {
      await call(db, "provisioning.put_secret", { p_workspace_id: workspaceId, p_value: secret });
      return { outcome: "stored", secret } as const;
    }),
  );
}

/** Drops the previous secret: from now on only the current one is accepted. */
export async function dropPreviousSecret(
  db: Queryable,
  workspaceId: string,
): Promise<{ readonly outcome: "dropped" } | Refused> {
  const refused = await refusable(call(db, "provisioning.drop_previous_secret", { p_workspace_id: workspaceId }));
  return refused ?? { outcome: "dropped" };
}

/**
 * Workspaces and their settings: channels, teams, reminders. Fields that a change does not name keep their values; null empties a field.
 */
import { call, type Queryable } from "../db/call.ts";
import type { DirectoryWorkspaces } from "../db/generated.gen.ts";
import { refusable, type Refused } from "../db/refusal.ts";

export interface Workspace {
  readonly id: string;
  readonly name: string;
  readonly publicUrl: string | null;
  readonly slackChannelId: string | null;
  /** Additional channels that members may name for a request. */
  readonly slackChannelIds: readonly string[];
  /** The Slack workspace, or Enterprise Grid, whose commands and buttons act here. */
  readonly slackTeamId: string | null;
  readonly slackEnterpriseId: string | null;
  readonly linearTeamId: string | null;
  readonly slackUsersBecomeRequesters: boolean;
  readonly warnBeforeHours: number;
  readonly reviewSlaHours: number;
  readonly remindEveryHours: number;
  readonly mostReminders: number;
  readonly nudgeEveryMinutes: number;
  /** How many acts per hour that notify others are allowed to one member; null: no limit. */
  readonly actsPerHour: number | null;
}

export type WorkspaceChanges = { readonly [Field in keyof Omit<Workspace, "id">]?: Workspace[Field] | undefined };

export async function listWorkspaces(db: Queryable): Promise<readonly Workspace[]> {
  return (await call(db, "directory.list_workspaces", {})).map(toWorkspace);
}

/** Makes the workspace if it does not exist. */
export async function putWorkspace(
  db: Queryable,
  id: string,
  changes: WorkspaceChanges,
): Promise<{ readonly outcome: "put"; readonly workspace: Workspace } | Refused> {
  const row = await refusable(
    call(db, "directory.put_workspace", {
      p_id: id,
      p_changes: {
        name: changes.name,
        public_url: changes.publicUrl,
        slack_channel_id: changes.slackChannelId,
        slack_channel_ids: changes.slackChannelIds,
        slack_team_id: changes.slackTeamId,
        slack_enterprise_id: changes.slackEnterpriseId,
        linear_team_id: changes.linearTeamId,
        slack_users_become_requesters: changes.slackUsersBecomeRequesters,
        warn_before_hours: changes.warnBeforeHours,
        review_sla_hours: changes.reviewSlaHours,
        remind_every_hours: changes.remindEveryHours,
        most_reminders: changes.mostReminders,
        nudge_every_minutes: changes.nudgeEveryMinutes,
        acts_per_hour: changes.actsPerHour,
      },
    }),
  );
  return "outcome" in row ? row : { outcome: "put", workspace: toWorkspace(row) };
}

function toWorkspace(row: DirectoryWorkspaces): Workspace {
  return {
    id: row.id,
    name: row.name,
    publicUrl: row.public_url,
    slackChannelId: row.slack_channel_id,
    slackChannelIds: row.slack_channel_ids,
    slackTeamId: row.slack_team_id,
    slackEnterpriseId: row.slack_enterprise_id,
    linearTeamId: row.linear_team_id,
    slackUsersBecomeRequesters: row.slack_users_become_requesters,
    warnBeforeHours: row.warn_before_hours,
    reviewSlaHours: row.review_sla_hours,
    remindEveryHours: row.remind_every_hours,
    mostReminders: row.most_reminders,
    nudgeEveryMinutes: row.nudge_every_minutes,
    actsPerHour: row.acts_per_hour,
  };
}

/**
 * The members of a workspace and its infra groups. Fields that a change does not name keep their values; null empties a field.
 */
import { z } from "zod";
import { call, type FunctionResult, type Queryable } from "../db/call.ts";
import { refusable, type Refused } from "../db/refusal.ts";

export const memberRoles = ["requester", "commercial", "vp", "operator", "admin", "auditor"] as const;
export type MemberRole = (typeof memberRoles)[number];

export interface Member {
  readonly id: string;
  readonly displayName: string;
  readonly email: string | null;
  readonly slackUserId: string | null;
  /** Which login recorded that the member has no Slack account, and when. */
  readonly withoutSlack: { readonly by: string; readonly at: Date } | null;
  readonly roles: readonly string[];
  readonly delegate: string | null;
  readonly awayFrom: Date | null;
  readonly awayUntil: Date | null;
  readonly active: boolean;
}

export interface ListedMember extends Member {
  readonly groups: readonly string[];
  /** Whether now is within the absence. */
  readonly away: boolean;
}

export interface MemberChanges {
  readonly displayName?: string | undefined;
  readonly email?: string | null | undefined;
  readonly slackUserId?: string | null | undefined;
  /** True: the member has no Slack account. Setting or emptying the Slack user id undoes it. */
  readonly withoutSlack?: boolean | undefined;
  readonly roles?: readonly MemberRole[] | undefined;
  /** Who acts for this member while away. */
  readonly delegate?: string | null | undefined;
  readonly awayFrom?: Date | null | undefined;
  readonly awayUntil?: Date | null | undefined;
  /** False removes the member, and must be given alone. True brings a removed one back, with only the fields given with it. */
  readonly active?: boolean | undefined;
}

export interface Group {
  readonly id: string;
  readonly name: string;
  readonly members: readonly string[];
  /** Where the group is told which reviews wait for it; null: its members are told. */
  readonly slackChannelId: string | null;
}

export interface GroupChanges {
  readonly name?: string | undefined;
  /** Null removes it. */
  readonly slackChannelId?: string | null | undefined;
  readonly add?: readonly string[] | undefined;
  readonly remove?: readonly string[] | undefined;
}

/** What ended with a removed member, and what they leave to others. */
export interface Removed {
  readonly outcome: "removed";
  readonly memberId: string;
  readonly leftGroups: readonly string[];
  readonly roles: readonly string[];
  readonly slackUserId: string | null;
  /** How many accounts at identity providers were linked. */
  readonly accounts: number;
  /** The API keys that are now revoked, by id. */
  readonly apiKeys: readonly string[];
  readonly openRequests: number;
  readonly policies: readonly string[];
  /** Those who have no delegate any more while they are away. */
  readonly delegators: readonly string[];
}

export async function listMembers(
  db: Queryable,
  workspaceId: string,
  options: { readonly inactive?: boolean | undefined } = {},
): Promise<{ readonly outcome: "listed"; readonly members: readonly ListedMember[] } | Refused> {
  const rows = await refusable(
    call(db, "directory.list_members", { p_workspace_id: workspaceId, p_inactive: options.inactive }),
  );
  if (!Array.isArray(rows)) return rows;
  return { outcome: "listed", members: rows.map((row) => ({ ...toMember(row), groups: row.groups, away: row.away })) };
}

export async function putMember(
  db: Queryable,
  workspaceId: string,
  id: string,
  changes: MemberChanges,
): Promise<{ readonly outcome: "put"; readonly member: Member } | Refused> {
  const row = await refusable(
    call(db, "directory.put_member", {
      p_workspace_id: workspaceId,
      p_id: id,
      p_changes: {
        display_name: changes.displayName,
        email: changes.email,
        slack_user_id: changes.slackUserId,
        without_slack: changes.withoutSlack,
        roles: changes.roles,
        delegate_id: changes.delegate,
        away_from: changes.awayFrom,
        away_until: changes.awayUntil,
        active: changes.active,
      },
    }),
  );
  return "outcome" in row ? row : { outcome: "put", member: toMember(row) };
}

/** What layers above the directory report as having waited on the member. */
const leftBehind = z.object({ open_requests: z.number().default(0), policies: z.array(z.string()).default([]) });

/** Ends every way of acting as this member. The log keeps the id and the name. */
export async function removeMember(db: Queryable, workspaceId: string, id: string): Promise<Removed | Refused> {
  const row = await refusable(call(db, "directory.remove_member", { p_workspace_id: workspaceId, p_id: id }));
  if ("outcome" in row) return row;
  const left = leftBehind.parse(row.left_behind);
  return {
    outcome: "removed",
    memberId: row.member_id,
    leftGroups: row.left_groups,
    roles: row.roles,
    slackUserId: row.slack_user_id,
    accounts: row.accounts,
    apiKeys: row.api_keys,
    openRequests: left.open_requests,
    policies: left.policies,
    delegators: row.delegators,
  };
}

export async function listGroups(db: Queryable, workspaceId: string): Promise<readonly Group[]> {
  return (await call(db, "directory.list_groups", { p_workspace_id: workspaceId })).map(toGroup);
}

export async function putGroup(
  db: Queryable,
  workspaceId: string,
  id: string,
  changes: GroupChanges,
): Promise<{ readonly outcome: "put"; readonly group: Group } | Refused> {
  const row = await refusable(
    call(db, "directory.put_group", {
      p_workspace_id: workspaceId,
      p_id: id,
      p_name: changes.name,
      p_add: changes.add,
      p_remove: changes.remove,
      p_slack_channel_id: changes.slackChannelId === null ? "" : changes.slackChannelId,
    }),
  );
  return "outcome" in row ? row : { outcome: "put", group: toGroup(row) };
}

function toGroup({
  slack_channel_id: slackChannelId,
  ...group
}: FunctionResult<"directory.list_groups">[number]): Group {
  return { ...group, slackChannelId };
}

export async function removeGroup(
  db: Queryable,
  workspaceId: string,
  id: string,
): Promise<{ readonly outcome: "removed" } | Refused> {
  const refused = await refusable(call(db, "directory.remove_group", { p_workspace_id: workspaceId, p_id: id }));
  return refused ?? { outcome: "removed" };
}

type MemberRow = Omit<FunctionResult<"directory.list_members">[number], "groups" | "away" | "created_at">;

function toMember(row: MemberRow): Member {
  return {
    id: row.id,
    displayName: row.display_name,
    email: row.email,
    slackUserId: row.slack_user_id,
    withoutSlack:
      row.without_slack_by === null || row.without_slack_at === null
        ? null
        : { by: row.without_slack_by, at: row.without_slack_at },
    roles: row.roles,
    delegate: row.delegate_id,
    awayFrom: row.away_from,
    awayUntil: row.away_until,
    active: row.active,
  };
}

/** Reviewers for whom nobody has recorded a Slack user, or that they have none. */
import { call, type Queryable } from "../db/call.ts";

export interface UnlinkedReviewer {
  readonly workspaceId: string;
  readonly memberId: string;
}

/** Of a workspace, or of all. Until they are linked, Slack users who are not in the directory are refused. */
export async function listUnlinkedReviewers(db: Queryable, workspaceId?: string): Promise<readonly UnlinkedReviewer[]> {
  const rows = await call(db, "capacity.unlinked_reviewers", { p_workspace_id: workspaceId });
  return rows.map((row) => ({ workspaceId: row.workspace_id, memberId: row.member_id }));
}

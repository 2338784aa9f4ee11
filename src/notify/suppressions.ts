/** Addresses to which no mail goes any more because it bounced, was complained about or was rejected by name. They are stored as hashes. */
import { call, type Queryable } from "../db/call.ts";
import { refusable, type Refused } from "../db/refusal.ts";

export interface Suppression {
  readonly workspaceId: string;
  /** A keyed hash of the address. */
  readonly mark: string;
  /** The member who has this address, if one has. */
  readonly memberId: string | null;
  readonly reason: string;
  readonly said: string | null;
  readonly since: Date;
  readonly liftedAt: Date | null;
  readonly liftedBy: string | null;
}

export interface ListSuppressionsOptions {
  /** Default: all. */
  readonly workspaceId?: string | undefined;
  /** Also those that were lifted. Default: false. */
  readonly lifted?: boolean | undefined;
  /** Default: 50. At most 10,000. */
  readonly limit?: number | undefined;
}

/** Newest first. */
export async function listSuppressions(
  db: Queryable,
  { workspaceId, lifted, limit }: ListSuppressionsOptions = {},
): Promise<{ readonly outcome: "listed"; readonly suppressions: readonly Suppression[] } | Refused> {
  return refusable(
    call(db, "notify.list_suppressions", { p_workspace_id: workspaceId, p_lifted: lifted, p_limit: limit }).then(
      (rows) => ({
        outcome: "listed" as const,
        suppressions: rows.map((row) => ({
          workspaceId: row.workspace_id,
          mark: row.mark,
          memberId: row.member_id,
          reason: row.reason,
          said: row.said,
          since: row.since,
          liftedAt: row.lifted_at,
          liftedBy: row.lifted_by,
        })),
      }),
    ),
  );
}

interface Address {
  readonly workspaceId: string;
  readonly address: string;
  readonly actor: string;
}

/** Stops mail to an address because its owner complained; `suppressed` says whether it was not yet stopped. */
export async function suppressAddress(
  db: Queryable,
  { workspaceId, address, actor }: Address,
): Promise<{ readonly outcome: "done"; readonly suppressed: boolean } | Refused> {
  return refusable(
    call(db, "notify.suppress_address", { p_workspace_id: workspaceId, p_address: address, p_actor: actor }).then(
      (suppressed) => ({ outcome: "done" as const, suppressed }),
    ),
  );
}

/** Lets mail go to an address again; `lifted` says whether it had been suppressed. */
export async function liftSuppression(
  db: Queryable,
  { workspaceId, address, actor }: Address,
): Promise<{ readonly outcome: "done"; readonly lifted: boolean } | Refused> {
  return refusable(
    call(db, "notify.lift_suppression", { p_workspace_id: workspaceId, p_address: address, p_actor: actor }).then(
      (lifted) => ({ outcome: "done" as const, lifted }),
    ),
  );
}

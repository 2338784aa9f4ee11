/**
 * How members prove who they are: accounts at identity providers, and the domains whose addresses a provider is trusted with.
 */
import { call, type Queryable } from "../db/call.ts";
import { refusable, type Refused } from "../db/refusal.ts";

/** An account at an identity provider. */
export interface Account {
  /** As written in the provider's discovery document. */
  readonly issuer: string;
  /** The provider's id of the account (`sub`). */
  readonly subject: string;
}

export interface Identity extends Account {
  readonly memberId: string;
  /** The domain whose rule made the link; null: an admin made it. */
  readonly madeByDomain: string | null;
  readonly createdAt: Date;
}

/** Links an account to a member; it is taken from the member to whom it was linked before. */
export async function putIdentity(
  db: Queryable,
  { workspaceId, memberId, issuer, subject }: Account & { readonly workspaceId: string; readonly memberId: string },
): Promise<{ readonly outcome: "linked"; readonly identity: Identity } | Refused> {
  const row = await refusable(
    call(db, "directory.put_identity", {
      p_workspace_id: workspaceId,
      p_member_id: memberId,
      p_issuer: issuer,
      p_subject: subject,
    }),
  );
  if ("outcome" in row) return row;
  const { member_id, domain, created_at } = row;
  return {
    outcome: "linked",
    identity: { memberId: member_id, issuer, subject, madeByDomain: domain, createdAt: created_at },
  };
}

/** Ends the link, and the member's sessions in browsers. */
export async function removeIdentity(
  db: Queryable,
  { issuer, subject }: Account,
): Promise<{ readonly outcome: "unlinked"; readonly memberId: string } | Refused> {
  const row = await refusable(call(db, "directory.remove_identity", { p_issuer: issuer, p_subject: subject }));
  return "outcome" in row ? row : { outcome: "unlinked", memberId: row.member_id };
}

export async function listIdentities(
  db: Queryable,
  workspaceId: string,
  memberId?: string,
): Promise<readonly Identity[]> {
  const rows = await call(db, "directory.list_identities", { p_workspace_id: workspaceId, p_member_id: memberId });
  return rows.map((row) => ({
    memberId: row.member_id,
    issuer: row.issuer,
    subject: row.subject,
    madeByDomain: row.made_by_domain,
    createdAt: row.created_at,
  }));
}

export interface IdentityDomain {
  readonly issuer: string;
  readonly domain: string;
  /** How many members it has linked so far. */
  readonly linked: number;
}

/** From now on verified addresses of the domain sign in as the members who have them. */
export async function putIdentityDomain(
  db: Queryable,
  rule: { readonly workspaceId: string; readonly issuer: string; readonly domain: string },
): Promise<{ readonly outcome: "put"; readonly domain: string } | Refused> {
  const row = await refusable(
    call(db, "directory.put_identity_domain", {
      p_workspace_id: rule.workspaceId,
      p_issuer: rule.issuer,
      p_domain: rule.domain,
    }),
  );
  return "outcome" in row ? row : { outcome: "put", domain: row.domain };
}

/** Ends the rule with the links that it made, and the sessions of those members. */
export async function removeIdentityDomain(
  db: Queryable,
  rule: { readonly issuer: string; readonly domain: string },
): Promise<{ readonly outcome: "removed"; readonly unlinked: number } | Refused> {
  const unlinked = await refusable(
    call(db, "directory.remove_identity_domain", { p_issuer: rule.issuer, p_domain: rule.domain }),
  );
  return typeof unlinked === "object" ? unlinked : { outcome: "removed", unlinked };
}

export async function listIdentityDomains(db: Queryable, workspaceId: string): Promise<readonly IdentityDomain[]> {
  const rows = await call(db, "directory.list_identity_domains", { p_workspace_id: workspaceId });
  return rows.map(({ issuer, domain, linked }) => ({ issuer, domain, linked }));
}

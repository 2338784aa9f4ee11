/**
 * The table of who may do what to which request: every caller and, for each kind of request, who succeeds.
 *
 * Does not own: making the requests, nor trying.
 */
import { anonymous, memberSession, service, type Session } from "../gateway.ts";

/** In addition to the directory's members: an auditor, and a member who is related to nothing. */
export const moreMembers = `
insert into directory.members (workspace_id, id, display_name, roles) values
  ('acme', 'aude', 'Aude', '{auditor}'), ('acme', 'nils', 'Nils', '{requester}'), ('globex', 'gina', 'Gina', '{requester}');
insert into capacity.policies (workspace_id, id, kind, step, min_monthly_cost_usd, approver_role, approver_id, rank) values
  ('acme', 'large', 'escalation', 'commercial', 10000, 'vp', null, 20),
  ('acme', 'largest', 'escalation', 'commercial', 100000, null, 'carl', 10);
`;

/** Every caller; members as `name` in acme or `name@workspace`. */
export const sessions: Readonly<Record<string, Session>> = {
  ...Object.fromEntries(
    ["rita", "rob", "cora", "dora", "carl", "vera", "tess", "tim", "otto", "ada", "aude", "nils", "gus"].map((id) => [
      id,
      memberSession(id),
    ]),
  ),
  "rita@globex": memberSession("rita", "globex"),
  "glen@globex": memberSession("glen", "globex"),
  "gina@globex": memberSession("gina", "globex"),
  "a stranger": memberSession("nobody"),
  "a token that says nothing": { role: "authenticated", claims: { role: "authenticated" } },
  anon: anonymous,
  "anon with a member's claims": { role: "anon", claims: memberSession("ada").claims },
  service,
};

const everywhere = ["service"];
const overseers = ["ada", "aude", ...everywhere];

export interface Row {
  /** Who may see it. */
  readonly readers: readonly string[];
  readonly commercial: readonly string[];
  readonly technical: readonly string[];
  readonly answer: readonly string[];
  readonly provisioned: readonly string[];
  readonly cancel: readonly string[];
  readonly nudge: readonly string[];
  /** Who may give the customer's address. */
  readonly address: readonly string[];
}

const nobody = {
  commercial: [],
  technical: [],
  answer: [],
  provisioned: [],
  cancel: [],
  nudge: [],
  address: [],
} as const;

/** The rows, and who is expected where. Readers may add notes and admins may erase, on every row. */
export const table: Readonly<Record<string, Row>> = {
  "asked by Rita, owned by Cora": {
    ...nobody,
    readers: ["rita", "cora", "tess", "tim", "rob", ...overseers],
    commercial: ["cora"],
    technical: ["tess", "tim", "rob"],
    cancel: ["rita", "ada"],
    nudge: ["rita", "ada"],
    address: ["rita", "cora", "ada"],
  },
  "asked by Rob, who is in the group himself, owned by Carl": {
    ...nobody,
    readers: ["rob", "carl", "tess", "tim", ...overseers],
    commercial: ["carl"],
    technical: ["tess", "tim"],
    cancel: ["rob", "ada"],
    nudge: ["rob", "ada"],
    address: ["rob", "carl", "ada"],
  },
  "for the group in Europe": {
    ...nobody,
    readers: ["rita", "carl", "tim", ...overseers],
    commercial: ["carl"],
    technical: ["tim"],
    cancel: ["rita", "ada"],
    nudge: ["rita", "ada"],
    address: ["rita", "carl", "ada"],
  },
  "so large that a VP decides": {
    ...nobody,
    readers: ["rita", "cora", "vera", "tess", "tim", "rob", ...overseers],
    commercial: ["cora", "vera"],
    technical: ["tess", "tim", "rob"],
    cancel: ["rita", "ada"],
    nudge: ["rita", "ada"],
    address: ["rita", "cora", "ada"],
  },
  "so large that Carl decides": {
    ...nobody,
    readers: ["rita", "cora", "carl", "tess", "tim", "rob", ...overseers],
    commercial: ["cora", "carl"],
    technical: ["tess", "tim", "rob"],
    cancel: ["rita", "ada"],
    nudge: ["rita", "ada"],
    address: ["rita", "cora", "ada"],
  },
  "asked by Cora, who owns it too, for a VP": {
    ...nobody,
    readers: ["cora", "vera", "tess", "tim", "rob", ...overseers],
    commercial: ["vera"],
    technical: ["tess", "tim", "rob"],
    cancel: ["cora", "ada"],
    nudge: ["cora", "ada"],
    address: ["cora", "ada"],
  },
  "waiting for the customer": {
    ...nobody,
    readers: ["rita", "cora", "tess", "tim", "rob", ...overseers],
    answer: ["cora"],
    cancel: ["rita", "ada"],
    nudge: ["rita", "ada"],
    address: ["cora", "ada"],
  },
  "waiting for the customer, who has to pay": {
    ...nobody,
    readers: ["rita", "cora", "tess", "tim", "rob", ...overseers],
    cancel: ["rita", "ada"],
    nudge: ["rita", "ada"],
    address: ["cora", "ada"],
  },
  "waiting for the customer, asked by Cora, who owns it too": {
    ...nobody,
    readers: ["cora", "vera", "tess", "tim", "rob", ...overseers],
    cancel: ["cora", "ada"],
    nudge: ["cora", "ada"],
    address: ["ada"],
  },
  "being provisioned": {
    ...nobody,
    readers: ["rita", "cora", "otto", "tess", "tim", "rob", ...overseers],
    provisioned: ["otto", "ada"],
    cancel: ["rita", "ada"],
  },
  "asked for in the other workspace": {
    ...nobody,
    readers: ["rita@globex", "glen@globex", "gina@globex", ...everywhere],
    commercial: ["glen@globex"],
    technical: ["glen@globex"],
    cancel: ["rita@globex", "glen@globex", "gina@globex"],
    nudge: ["rita@globex", "glen@globex", "gina@globex"],
    address: ["rita@globex", "glen@globex", "gina@globex"],
  },
};

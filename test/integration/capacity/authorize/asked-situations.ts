/**
 * Situations of a request, and whom it then waits on. The people are those of workflow.ts.
 *
 * Does not own: how a situation is set up, nor which surfaces are checked.
 */
import type { Policy, RequestInput } from "../harness.ts";

export type Step = "commercial" | "technical";
export type Asked = Readonly<Record<Step, readonly string[]>>;

export interface Situation {
  /** Additions to the directory. */
  readonly before?: string;
  readonly policy?: Policy;
  readonly request?: RequestInput;
  /** Earlier decisions, and by whom. */
  readonly decided?: readonly (readonly ["COMMERCIAL_APPROVED" | "TECH_REVIEW_APPROVED", string])[];
  /** Changes to the directory once the request exists. */
  readonly later?: string;
  /** Whom it waits on: `member (reason)`, ordered by id. */
  readonly commercial: readonly string[];
  readonly technical: readonly string[];
  /** What a list says. */
  readonly list: readonly string[];
}

export const away = (...ids: string[]): string =>
  `update directory.members set away_from = now() - interval '1 hour', away_until = now() + interval '1 day'
    where workspace_id = 'acme' and id in (${ids.map((id) => `'${id}'`).join(", ")});`;
const gone = (id: string): string =>
  `update directory.members set active = false where workspace_id = 'acme' and id = '${id}';`;
export const delegate = (id: string, to: string): string =>
  `update directory.members set delegate_id = '${to}' where workspace_id = 'acme' and id = '${id}';`;

export const vp: Policy = { id: "vp", kind: "escalation", approver_role: "vp" };
export const named: Policy = { id: "named", kind: "escalation", approver_id: "carl" };
const infra = ["rob (group)", "tess (group)", "tim (group)"];
const endorsed = [["COMMERCIAL_APPROVED", "cora"]] as const;

export const situations: Readonly<Record<string, Situation>> = {
  "the owner is here": { commercial: ["cora (owner)"], technical: infra, list: ["cora", "group infra"] },
  "the owner is away, and the delegate is here": {
    later: away("cora"),
    commercial: ["dora (delegate)"],
    technical: infra,
    list: ["dora", "group infra"],
  },
  "the owner and the delegate are away": {
    later: away("cora", "dora"),
    commercial: ["cora (owner)", "dora (delegate)"],
    technical: infra,
    list: ["cora", "dora", "group infra"],
  },
  "the owner is away, and the delegate has left": {
    later: away("cora") + gone("dora"),
    commercial: ["cora (owner)"],
    technical: infra,
    list: ["cora", "group infra"],
  },
  "the owner is away, and the delegate is the requester": {
    request: { requester: "dora" },
    later: away("cora"),
    commercial: ["cora (owner)"],
    technical: infra,
    list: ["cora", "group infra"],
  },
  "the owner has left": {
    later: away("cora") + gone("cora"),
    commercial: [],
    technical: infra,
    list: ["nobody for cora", "group infra"],
  },
  "the owner is no longer a reviewer": {
    later: "update directory.members set roles = '{requester}' where workspace_id = 'acme' and id = 'cora'",
    commercial: [],
    technical: infra,
    list: ["nobody for cora", "group infra"],
  },
  "one of the group has left it, one the company, and one asked": {
    request: { requester: "rob" },
    later: `delete from directory.group_members where workspace_id = 'acme' and member_id = 'tim'; ${gone("gus")}`,
    commercial: ["cora (owner)"],
    technical: ["tess (group)"],
    list: ["cora", "group infra"],
  },
  "one of the group is away": {
    later: away("tess"),
    commercial: ["cora (owner)"],
    technical: ["rob (group)", "tim (group)"],
    list: ["cora", "group infra"],
  },
  "all of the group but the requester are away": {
    request: { requester: "rob" },
    later: away("tess", "tim"),
    commercial: ["cora (owner)"],
    technical: ["tess (group)", "tim (group)"],
    list: ["cora", "group infra"],
  },
  "nobody is left in the group": {
    later: "delete from directory.group_members where workspace_id = 'acme' and group_id = 'infra'",
    commercial: ["cora (owner)"],
    technical: [],
    list: ["cora", "nobody in group infra"],
  },
  "a VP is needed, and the owner has not endorsed": {
    policy: vp,
    commercial: ["cora (owner)"],
    technical: infra,
    list: ["cora", "group infra"],
  },
  "a VP is needed, and the owner's delegate is to endorse": {
    policy: vp,
    later: away("cora"),
    commercial: ["dora (delegate)"],
    technical: infra,
    list: ["dora", "group infra"],
  },
  "a VP is needed, and the owner endorsed": {
    policy: vp,
    decided: endorsed,
    commercial: ["vera (authority)"],
    technical: infra,
    list: ["role vp", "group infra"],
  },
  "a VP is needed, and the owner asked": {
    policy: vp,
    request: { requester: "cora" },
    commercial: ["vera (authority)"],
    technical: infra,
    list: ["role vp", "group infra"],
  },
  "a VP is needed, and the owner has left": {
    policy: vp,
    later: gone("cora"),
    commercial: ["vera (authority)"],
    technical: infra,
    list: ["role vp", "group infra"],
  },
  "a VP is needed, who is away: a role is not delegated": {
    policy: vp,
    decided: endorsed,
    later: delegate("vera", "dora") + away("vera"),
    commercial: ["vera (authority)"],
    technical: infra,
    list: ["role vp", "group infra"],
  },
  "a VP is needed, and the owner is one": {
    policy: vp,
    request: { owner: "vera" },
    commercial: ["vera (owner)"],
    technical: infra,
    list: ["vera", "group infra"],
  },
  "a VP is needed, and the last one has left": {
    policy: vp,
    decided: endorsed,
    later: gone("vera"),
    commercial: [],
    technical: infra,
    list: ["nobody with role vp", "group infra"],
  },
  "a rule names a member, and the owner has not endorsed": {
    policy: named,
    commercial: ["cora (owner)"],
    technical: infra,
    list: ["cora", "group infra"],
  },
  "a rule names a member, and the owner endorsed": {
    policy: named,
    decided: endorsed,
    commercial: ["carl (authority)"],
    technical: infra,
    list: ["carl", "group infra"],
  },
  "a rule names a member who is away, and the delegate is here": {
    policy: named,
    decided: endorsed,
    later: delegate("carl", "otto") + away("carl"),
    commercial: ["otto (delegate)"],
    technical: infra,
    list: ["otto", "group infra"],
  },
  "a rule names a member who is away, and so is the delegate": {
    policy: named,
    decided: endorsed,
    later: delegate("carl", "otto") + away("carl", "otto"),
    commercial: ["carl (authority)", "otto (delegate)"],
    technical: infra,
    list: ["carl", "otto", "group infra"],
  },
  "a rule names the requester, who is away": {
    policy: vp,
    request: { requester: "vera" },
    before:
      "insert into directory.members (workspace_id, id, display_name, roles) values ('acme', 'vic', 'Vic', '{vp}')",
    later: delegate("vera", "dora") + away("vera"),
    decided: endorsed,
    commercial: ["vic (authority)"],
    technical: infra,
    list: ["role vp", "group infra"],
  },
  "the commercial review is approved by a rule": {
    policy: { id: "auto", kind: "auto_approval", step: "commercial" },
    commercial: [],
    technical: infra,
    list: ["group infra"],
  },
  "the technical review is done": {
    decided: [["TECH_REVIEW_APPROVED", "tess"]],
    commercial: ["cora (owner)"],
    technical: [],
    list: ["cora"],
  },
  "both reviews are done": {
    decided: [
      ["COMMERCIAL_APPROVED", "cora"],
      ["TECH_REVIEW_APPROVED", "tess"],
    ],
    commercial: [],
    technical: [],
    list: ["customer (not asked)"],
  },
};

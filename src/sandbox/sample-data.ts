/**
 * The people and places that a sandbox starts with: the same person in Slack, in Linear, in the mailbox and at the sign-in page.
 *
 * Owns: who they are. Does not own: what they may do; that is in Headroom's directory.
 */

export interface Person {
  /** As Headroom's directory knows them. */
  readonly memberId: string;
  readonly name: string;
  readonly email: string;
  /** `U` and capitals or digits, as Slack makes them. */
  readonly slackUserId: string;
  /** Their role, shown on every page where a visitor chooses a person. */
  readonly title: string;
  /** Groups of Headroom's directory that they belong to. */
  readonly groups?: readonly string[];
}

export interface Customer {
  readonly organizationId: string;
  readonly organization: string;
  readonly name: string;
  readonly email: string;
}

export interface SlackChannel {
  readonly id: string;
  readonly name: string;
  /** Whether the app was invited. Default: true. */
  readonly botIsMember?: boolean;
}

export interface LinearTeam {
  readonly id: string;
  readonly key: string;
  readonly name: string;
}

export interface GithubRepository {
  readonly owner: string;
  readonly repo: string;
  /** File names below .github/workflows. */
  readonly workflows: readonly string[];
  /** Permissions that the token lacks there. Default: it may do everything. */
  readonly lacks?: readonly GithubPermission[];
}

/** As GitHub names them in `x-accepted-github-permissions`. */
export type GithubPermission = "actions=read" | "actions=write" | "contents=read";

export interface SampleData {
  readonly people: readonly Person[];
  readonly customer: Customer;
  /** The Slack page opens with the first one. */
  readonly slackChannels: readonly SlackChannel[];
  readonly linearTeam: LinearTeam;
  /** Default: every repository exists, with every workflow. */
  readonly githubRepositories?: readonly GithubRepository[];
}

export const defaultSampleData: SampleData = {
  people: [
    person("riley", "Riley Reyes", "URILEY01", "Requester, sales"),
    person("casey", "Casey Kim", "UCASEY01", "Commercial owner"),
    person("vera", "Vera Novak", "UVERA001", "VP, approves large amounts"),
    person("ines", "Ines Ortiz", "UINES001", "Infrastructure", ["infra"]),
    person("omar", "Omar Haddad", "UOMAR001", "Infrastructure", ["infra"]),
    person("ada", "Ada Moore", "UADA0001", "Administrator"),
    person("lin", "Lin Park", "ULIN0001", "Auditor"),
  ],
  customer: {
    organizationId: "org_acme",
    organization: "Acme",
    name: "Bo Buyer",
    email: "buyer@acme.example",
  },
  slackChannels: [
    { id: "C0CAPACITY", name: "capacity-requests" },
    { id: "C0GENERAL0", name: "general" },
    { id: "C0BOARD000", name: "board", botIsMember: false },
  ],
  linearTeam: { id: "7a0f1c52-6c1d-4b3e-9d52-3f1c8e5a2b10", key: "CAP", name: "Capacity" },
};

function person(memberId: string, name: string, slackUserId: string, title: string, groups?: string[]): Person {
  const shared = { memberId, name, email: `${memberId}@headroom.example`, slackUserId, title };
  return groups === undefined ? shared : { ...shared, groups };
}

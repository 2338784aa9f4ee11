/**
 * The example that a first start makes: the sample people, a few rules, and requests in different states.
 *
 * Owns: the content of the example. Does not own: any rule of the workflow. Everything goes through its functions, in one transaction,
 * so that a killed start leaves the whole example or nothing.
 */
import type { Client } from "pg";
import { putSettings, setPrice, type NewPrice } from "../../../billing/index.ts";
import {
  createRequest,
  decide,
  putPolicy,
  type MemberEvent,
  type NewRequest,
  type PolicyRule,
} from "../../../capacity/index.ts";
import { listMembers, putGroup, putMember, putWorkspace, type MemberRole } from "../../../directory/index.ts";
import type { SampleData } from "../../../sandbox/sample-data.ts";
import { orFail } from "../../refusal.ts";

export const exampleWorkspace = "default";

const rolesOf: Readonly<Record<string, readonly MemberRole[]>> = {
  casey: ["commercial"],
  vera: ["commercial", "vp"],
  ada: ["admin", "operator"],
  lin: ["auditor"],
};

/** A request and the decisions on it. */
interface Story {
  readonly request: Omit<NewRequest, "requester" | "commercialOwner" | "infraGroup">;
  readonly decisions: readonly (readonly [event: MemberEvent, by: string])[];
}

/** The most advanced one first, so that the newest one waits on somebody to act. */
function storiesOf(sampleData: SampleData): readonly Story[] {
  const { organizationId, organization, email } = sampleData.customer;
  const customerRef = { org_id: organizationId, name: organization, email };
  const common = { region: "us-east-1", durationDays: 90, customerRef };
  return [
    {
      request: { ...common, size: "16XL", quantity: 2, monthlyCostUsd: 18_400, idempotencyKey: "example-1" },
      decisions: [
        [{ type: "COMMERCIAL_APPROVED" }, "casey"],
        [{ type: "TECH_REVIEW_APPROVED" }, "ines"],
      ],
    },
    {
      request: { ...common, size: "96XL", quantity: 8, monthlyCostUsd: 412_000, idempotencyKey: "example-2" },
      decisions: [[{ type: "COMMERCIAL_APPROVED" }, "casey"]],
    },
    {
      request: { ...common, size: "32XL", quantity: 4, monthlyCostUsd: 61_500, idempotencyKey: "example-3" },
      decisions: [],
    },
  ];
}

/** What instances cost. The largest has no price: customers confirm it without paying. */
const prices: readonly NewPrice[] = [
  { size: "S", kind: "one_off", currency: "USD", unitAmount: 4_900 },
  { size: "M", kind: "one_off", currency: "USD", unitAmount: 9_800 },
  { size: "L", kind: "one_off", currency: "USD", unitAmount: 19_600 },
  { size: "16XL", kind: "recurring", currency: "USD", unitAmount: 920_000 },
  { size: "32XL", kind: "recurring", currency: "USD", unitAmount: 1_537_500 },
];

/** The self-service wizard submits in this member's name. */
const website = "website";

/** Makes the example if the workspace has no members yet. Returns whether it did. */
export async function makeExample(client: Client, sampleData: SampleData): Promise<boolean> {
  if (orFail(await listMembers(client, exampleWorkspace)).members.length > 0) return false;
  await client.query("begin");
  try {
    await makeDirectory(client, sampleData);
    await makePrices(client);
    for (const { request, decisions } of storiesOf(sampleData)) {
      const terms = { ...request, requester: "riley" };
      const { request: made } = orFail(await createRequest(client, terms));
      for (const [event, by] of decisions) orFail(await decide(client, made.id, event, { as: by }));
    }
    await client.query("commit");
    return true;
  } catch (error) {
    await client.query("rollback");
    throw error;
  }
}

/** The sample people in the directory, and the rules that apply to them. */
export async function makeDirectory(client: Client, sampleData: SampleData): Promise<void> {
  orFail(
    await putWorkspace(client, exampleWorkspace, {
      name: "Headroom example",
      slackChannelId: sampleData.slackChannels[0]?.id,
      linearTeamId: sampleData.linearTeam.id,
    }),
  );
  for (const { memberId, name, email, slackUserId } of sampleData.people) {
    const roles: readonly MemberRole[] = ["requester", ...(rolesOf[memberId] ?? [])];
    orFail(await putMember(client, exampleWorkspace, memberId, { displayName: name, email, slackUserId, roles }));
  }
  const add = sampleData.people
    .filter(({ groups }) => groups?.includes("infra") === true)
    .map(({ memberId }) => memberId);
  orFail(await putGroup(client, exampleWorkspace, "infra", { name: "Infrastructure", add }));
  const routes = {
    "casey-owns": { kind: "review_route", step: "commercial", approver: "casey" },
    "infra-reviews": { kind: "review_route", step: "technical", group: "infra" },
  } as const satisfies Readonly<Record<string, PolicyRule>>;
  for (const [id, rule] of Object.entries(routes)) orFail(await putPolicy(client, exampleWorkspace, id, rule));
  orFail(
    await putPolicy(
      client,
      exampleWorkspace,
      "vp-from-100k",
      { kind: "escalation", approverRole: "vp" },
      { minMonthlyCostUsd: 100_000, description: "From 100,000 USD a month on, a VP approves." },
    ),
  );
  orFail(
    await putPolicy(
      client,
      exampleWorkspace,
      "small-automatic",
      { kind: "auto_approval", step: "both" },
      { sizes: ["S", "M", "L"], maxQuantity: 2, description: "Small requests are approved automatically." },
    ),
  );
}

/** Prices, and a website on which anybody may order. */
async function makePrices(client: Client): Promise<void> {
  for (const price of prices) orFail(await setPrice(client, exampleWorkspace, price, "ada"));
  orFail(await putMember(client, exampleWorkspace, website, { displayName: "The website", roles: ["requester"] }));
  orFail(await putSettings(client, exampleWorkspace, { selfServiceRequester: website }));
}

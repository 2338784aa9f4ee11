/**
 * Random people doing random things over several connections, while the directory changes: the database always does what the model says,
 * nobody ever does what they may not, and every projection is the fold of its events.
 */
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { putPrice } from "../../billing/pricing.ts";
import { memberSession, overHttp, service } from "../gateway.ts";
import {
  Act,
  Advance,
  Create,
  Elapse,
  Race,
  Rearrange,
  writeMember,
  type Action,
  type Change,
  type Model,
} from "./model-commands.ts";
import { eventTypes, groups, policyRows, type Actor, type Member, type Terms } from "./model.ts";
import { codeOf, oneOf, rowsOf, startWorkflow } from "../harness.ts";

const member = (id: string, roles: string[], groupsOf: string[] = [], more: Partial<Member> = {}): [string, Member] => [
  id,
  { id, roles, groups: groupsOf, active: true, away: false, ...more },
];

/** The directory as it is at the beginning of each story. */
function people(): Map<string, Member> {
  return new Map([
    member("rita", ["requester"]),
    member("rob", ["requester"], ["infra"]),
    member("dora", ["requester"]),
    member("cora", ["commercial"], [], { delegate: "dora" }),
    member("carl", ["commercial", "requester"], [], { delegate: "rob" }),
    member("vera", ["vp"]),
    member("tess", ["requester"], ["infra"]),
    member("tim", ["requester"], ["infra", "infra-eu"]),
    member("otto", ["operator"]),
    member("ada", ["admin"]),
    member("gus", ["commercial"], ["infra"], { active: false }),
  ]);
}

const memberId = fc.constantFrom(...people().keys());
const which = fc.nat({ max: 5 });
const actor: fc.Arbitrary<Actor> = fc.oneof(
  { weight: 6, arbitrary: memberId.map((id) => ({ type: "user", id }) as const) },
  { weight: 1, arbitrary: fc.constant({ type: "customer", id: "customer" } as const) },
  { weight: 1, arbitrary: fc.constant({ type: "system", id: "job" } as const) },
  { weight: 1, arbitrary: fc.constant({ type: "cron", id: "timer" } as const) },
);
const action: fc.Arbitrary<Action> = fc.record({
  event: fc.constantFrom(...eventTypes),
  actor,
  entrance: fc.constantFrom("token", "token", "service", "service", "pretence"),
  belief: fc.constantFrom(null, null, 0, 0, -1, 1),
});
const terms: fc.Arbitrary<Terms> = fc.record({
  requester: memberId,
  owner: fc.oneof(
    { weight: 1, arbitrary: memberId },
    { weight: 4, arbitrary: fc.constantFrom(null, "cora", "cora", "carl", "carl", "vera", "nobody") },
  ),
  group: fc.constantFrom(null, null, ...groups, "infra", "infra", "infra", "unknown"),
  size: fc.constantFrom("S", "32XL", "32XL", "64XL", "16XL", "16XL", "128XL"),
  region: fc.constantFrom("us-east-1", "us-east-1", "eu-west-1"),
  cost: fc.constantFrom(null, 50, 100, 500, 9999.99, 10_000, 250_000),
});
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ kind: fc.constant("active" as const), on: fc.boolean() }),
  fc.record({ kind: fc.constant("away" as const), on: fc.boolean() }),
  fc.record({
    kind: fc.constant("role" as const),
    role: fc.constantFrom("commercial", "vp", "operator", "admin"),
    on: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("group" as const), group: fc.constantFrom("infra", "infra-eu"), on: fc.boolean() }),
);

const commands = fc.commands(
  [
    terms.map((input) => new Create(input)),
    fc.tuple(which, fc.nat()).map(([index, choice]) => new Advance(index, choice)),
    fc.tuple(which, fc.nat()).map(([index, choice]) => new Advance(index, choice)),
    fc.tuple(which, action).map(([index, one]) => new Act(index, one)),
    fc.tuple(which, action).map(([index, one]) => new Act(index, one)),
    fc.tuple(which, fc.array(action, { minLength: 2, maxLength: 3 })).map(([index, some]) => new Race(index, some)),
    fc.tuple(memberId, change).map(([id, what]) => new Rearrange(id, what)),
    which.map((index) => new Elapse(index)),
  ],
  { maxCommands: 80, size: "max" },
);

describe.each(POSTGRES_VERSIONS)("random people on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);

  beforeAll(async () => {
    for (const row of policyRows) await workflow.addPolicy(row);
    await putPrice(workflow, { size: "16XL", unit_amount: 12_500 });
    await putPrice(workflow, { size: "128XL", unit_amount: 100, currency: "EUR" });
  });

  test("the database does what the model says, and the log always yields the state", { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(commands, async (story) => {
        const directory = people();
        for (const one of directory.values()) await writeMember(workflow, one);
        const model: Model = { directory, requests: [] };
        await fc.asyncModelRun(() => ({ model, real: workflow }), story);
      }),
      { numRuns: 20, endOnFailure: true },
    );
    const { many } = await oneOf<{ many: number }>(
      workflow.superuser,
      "select count(distinct (state_before, event_type, state_after))::integer as many from capacity.events",
    );
    expect(many).toBeGreaterThan(6);
  });

  test("nobody becomes system, cron or customer through the entrance for people", async () => {
    const directory = people();
    for (const one of directory.values()) await writeMember(workflow, one);
    const { id } = await workflow.create();
    const before = await workflow.size();
    for (const session of [memberSession("ada"), service]) {
      for (const type of ["system", "cron", "customer"]) {
        for (const event of eventTypes) {
          const attempt = overHttp(workflow.db, session, (client) =>
            rowsOf(client, "select public.apply_capacity_event($1, $2, $3, 'ada')", [id, event, type]),
          );
          expect(await codeOf(attempt)).toBe("not_allowed");
        }
      }
    }
    expect(await workflow.size()).toEqual(before);
  });

  test("a member of another workspace finds nothing, whatever their roles there", async () => {
    const { id } = await workflow.create();
    for (const event of eventTypes) {
      const attempt = overHttp(workflow.db, memberSession("glen", "globex"), (client) =>
        rowsOf(client, "select public.apply_capacity_event($1, $2, 'user', 'glen')", [id, event]),
      );
      expect(await codeOf(attempt)).toBe("not_found");
    }
  });
});

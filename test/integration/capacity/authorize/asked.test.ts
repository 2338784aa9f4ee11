/**
 * Whom a request waits on: every surface names the same people, all of them may decide, and nobody who may decide is left out. Checked by a
 * table of situations, and with random directories.
 */
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { away, delegate, named, situations, vp, type Asked, type Situation, type Step } from "./asked-situations.ts";
import { startSurfaces } from "../surfaces.ts";
import { oneOf, rowsOf } from "../harness.ts";

const idsOf = (people: readonly string[]): string[] => people.map((person) => person.slice(0, person.indexOf(" ")));

describe.each(POSTGRES_VERSIONS)("whom a request waits on, on PostgreSQL %i", async (version) => {
  const surfaces = await startSurfaces(version);
  const run = (text: string): Promise<unknown> => surfaces.db.superuser.pool.query(text);

  beforeEach(async () => {
    await run(`delete from capacity.policies;
      delete from directory.members where id = 'vic';
      update directory.members set away_from = null, away_until = null, delegate_id = null, active = id <> 'gus';
      update directory.members set roles = '{commercial}', delegate_id = 'dora' where workspace_id = 'acme' and id = 'cora';
      insert into directory.group_members values ('acme', 'infra', 'rob'), ('acme', 'infra', 'tess'), ('acme', 'infra', 'tim'), ('acme', 'infra', 'gus')
      on conflict do nothing`);
  });

  async function stage(situation: Situation): Promise<string> {
    if (situation.before !== undefined) await run(situation.before);
    if (situation.policy !== undefined) await surfaces.addPolicy(situation.policy);
    const { id } = await surfaces.create(situation.request);
    for (const [event, by] of situation.decided ?? []) await surfaces.apply(id, event, by);
    if (situation.later !== undefined) await run(situation.later);
    return id;
  }

  test.each(Object.entries(situations))("%s: every surface names the same", async (_name, situation) => {
    const id = await stage(situation);
    const want: Asked = { commercial: idsOf(situation.commercial), technical: idsOf(situation.technical) };
    const all = [...new Set([...want.commercial, ...want.technical])].toSorted();

    const rows = await rowsOf<{ step: Step; who: string }>(
      surfaces.superuser,
      `select a.step, format('%s (%s)', a.member_id, a.reason) as who from capacity.requests r cross join lateral capacity.asked_now(r) a
        where r.id = $1 and a.asked and a.step <> 'confirmation' order by a.step, a.member_id`,
      [id],
    );
    expect({
      commercial: rows.filter(({ step }) => step === "commercial").map(({ who }) => who),
      technical: rows.filter(({ step }) => step === "technical").map(({ who }) => who),
    }).toEqual({ commercial: situation.commercial, technical: situation.technical });

    expect(await storyOf(id)).toEqual(want);
    expect(await pendingOf(id)).toEqual(want);
    expect(await listed(id)).toEqual({ label: situation.list, members: all });
    expect(await inBacklog(id)).toEqual(want);
    if ((await surfaces.row(id)).state === "UNDER_REVIEW") {
      expect(await nudged(id)).toEqual(all);
      expect(await rowsOf(surfaces.superuser, disagreements, [id])).toEqual([]);
    }
  });

  /** What the next Slack message would say. */
  async function storyOf(id: string): Promise<Asked> {
    const { story } = await oneOf<{ story: Record<Step, { asked: string[] }> }>(
      surfaces.superuser,
      "select capacity.story_now($1) as story",
      [id],
    );
    return { commercial: story.commercial.asked, technical: story.technical.asked };
  }

  async function pendingOf(id: string): Promise<Asked> {
    const { open } = await oneOf<{ open: { step: Step; asked: { id: string }[] }[] }>(
      surfaces.superuser,
      "select public.get_capacity_request($1) -> 'pending_approvals' as open",
      [id],
    );
    const of = (step: Step): string[] =>
      open.find((pending) => pending.step === step)?.asked.map((person) => person.id) ?? [];
    return { commercial: of("commercial"), technical: of("technical") };
  }

  /** Whom the list says the request waits on, and which of those members have it in their own list. */
  async function listed(id: string): Promise<{ label: string[]; members: string[] }> {
    const { label } = await oneOf<{ label: string[] }>(
      surfaces.superuser,
      "select waits_on as label from capacity.list_requests('acme', p_limit => 1) where id = $1",
      [id],
    );
    const members = await rowsOf<{ id: string }>(
      surfaces.superuser,
      `select m.id from directory.members m
        where m.workspace_id = 'acme' and exists (select from capacity.list_requests('acme', p_waits_on => m.id, p_limit => 1) l where l.id = $1) order by 1`,
      [id],
    );
    return { label, members: members.map((member) => member.id) };
  }

  /** The set-based form, from which the backlog is made. */
  async function inBacklog(id: string): Promise<Asked> {
    const rows = await rowsOf<{ step: Step; asked: string[] }>(
      surfaces.superuser,
      "select step, asked from capacity.waits where request_id = $1",
      [id],
    );
    const of = (step: Step): string[] => rows.find((row) => row.step === step)?.asked.toSorted() ?? [];
    return { commercial: of("commercial"), technical: of("technical") };
  }

  async function nudged(id: string): Promise<string[]> {
    const { answer } = await oneOf<{ answer: { asked: { id: string }[] } }>(
      surfaces.superuser,
      "select public.nudge_capacity_request($1, (select requester_user_id from capacity.requests where id = $1)) as answer",
      [id],
    );
    return answer.asked.map((person) => person.id);
  }

  test("a preview names the people whom the request then asks", async () => {
    for (const [policy, change] of [
      [undefined, ""],
      [vp, ""],
      [vp, away("cora")],
      [named, ""],
    ] as const) {
      await run(`delete from capacity.policies; ${change}`);
      if (policy !== undefined) await surfaces.addPolicy(policy);
      const preview = (await surfaces.preview()) as unknown as Record<Step, { asked: { id: string }[] }>;
      const { id } = await surfaces.create();
      expect({
        commercial: preview.commercial.asked.map((person) => person.id),
        technical: preview.technical.asked.map((person) => person.id),
      }).toEqual(await storyOf(id));
    }
  });

  test("while the customer is asked, the person who may record the answer is mentioned: the owner, or the delegate", async () => {
    const called = async (id: string): Promise<string[]> =>
      (
        await rowsOf<{ who: string }>(
          surfaces.superuser,
          `select a.member_id as who from capacity.requests r cross join lateral capacity.asked_now(r) a where r.id = $1 and a.asked`,
          [id],
        )
      ).map(({ who }) => who);
    const id = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED");
    expect([await called(id), await nudged(id)]).toEqual([["cora"], ["cora"]]);
    await run(away("cora"));
    expect(await called(id)).toEqual(["dora"]);
    const other = await surfaces.create();
    await surfaces.apply(other.id, "TECH_REVIEW_APPROVED", "tess");
    await surfaces.apply(other.id, "COMMERCIAL_APPROVED", "dora");
    const reply = (await surfaces.effects(other.id)).findLast(({ effect }) => effect === "slack:reply");
    expect(JSON.stringify(reply?.payload)).toContain("<@U0DORA>");
  });

  test("a delegate of a member whom a rule names may decide and read while that member is away, and only then", async () => {
    await surfaces.addPolicy(named);
    await run(delegate("carl", "otto"));
    const { id } = await surfaces.create();
    const verdict = (): Promise<unknown> =>
      oneOf(
        surfaces.superuser,
        `select a.allowed, a.counts, capacity.may_read(r, s) as reads
           from capacity.requests r cross join directory.standing_of('acme', 'otto') s
          cross join lateral capacity.authorize(row('user', 'otto', 'test')::capacity.actor, s, r, 'COMMERCIAL_APPROVED', clock_timestamp()) a
          where r.id = $1`,
        [id],
      );
    expect(await verdict()).toMatchObject({ allowed: false, reads: false });
    await run(away("carl"));
    expect(await verdict()).toEqual({ allowed: true, counts: true, reads: true });
    const own = await surfaces.create({ requester: "carl", owner: "cora" }).catch(() => undefined);
    expect(own).toBeUndefined();
    await surfaces.apply(id, "COMMERCIAL_APPROVED", "otto");
    expect(await surfaces.row(id)).toMatchObject({ commercial_approved_by: "otto" });
  });

  test("whatever the directory looks like, one request and many give the same answers, and both agree with authorize", async () => {
    await run(
      "delete from capacity.requests r where not exists (select from capacity.events e where e.request_id = r.id)",
    );
    const ids: string[] = [];
    const people = ["rita", "rob", "dora", "cora", "carl", "vera", "tess", "tim"] as const;
    for (const policy of [undefined, vp, named]) {
      await run("delete from capacity.policies");
      if (policy !== undefined) await surfaces.addPolicy(policy);
      for (const requester of ["rita", "rob", "dora", "cora"]) {
        if (policy === undefined && requester === "cora") continue;
        const { id } = await surfaces.create({ requester });
        ids.push(id);
        if (policy === undefined || requester === "cora") continue;
        const { id: later } = await surfaces.create({ requester });
        await surfaces.apply(later, "COMMERCIAL_APPROVED", "cora");
        ids.push(later);
      }
    }
    const member = fc.record({
      id: fc.constantFrom(...people),
      active: fc.boolean(),
      away: fc.boolean(),
      delegate: fc.option(fc.constantFrom(...people)),
      roles: fc.subarray(["requester", "commercial", "vp"]),
    });
    const directory = fc.record({
      members: fc.uniqueArray(member, { selector: ({ id }) => id, minLength: 3 }),
      group: fc.subarray([...people]),
    });
    await fc.assert(
      fc.asyncProperty(directory, async ({ members, group }) => {
        await rowsOf(surfaces.superuser, setMembers, [JSON.stringify(members)]);
        await run("delete from directory.group_members where workspace_id = 'acme' and group_id = 'infra'");
        await rowsOf(
          surfaces.superuser,
          "insert into directory.group_members select 'acme', 'infra', g from unnest($1::text[]) g",
          [group],
        );
        for (const id of ids) {
          expect(await rowsOf(surfaces.superuser, disagreements, [id])).toEqual([]);
          expect(await storyOf(id)).toEqual(await inBacklog(id));
        }
      }),
      { numRuns: 40 },
    );
  });
});

const setMembers = `
update directory.members m
   set active = d.active, away_from = case when d.away then now() - interval '1 hour' end, away_until = case when d.away then now() + interval '1 day' end,
       delegate_id = nullif(d.delegate, m.id), roles = d.roles
  from jsonb_to_recordset($1) d(id text, active boolean, away boolean, delegate text, roles text[])
 where m.workspace_id = 'acme' and m.id = d.id`;

/**
 * Members for whom the list of deciders and the decision itself differ; reviews that wait on nobody although somebody may decide, or that
 * wait on somebody who may not.
 */
const disagreements = `
select m.id, s.step, a.allowed, a.counts, n.counts as said, n.asked
  from capacity.requests r
 cross join lateral (values ('commercial', 'COMMERCIAL_APPROVED', r.commercial_approved_at), ('technical', 'TECH_REVIEW_APPROVED', r.technical_approved_at))
       s(step, event, done)
 cross join directory.members m
 cross join lateral capacity.authorize(row('user', m.id, 'test')::capacity.actor, directory.standing_of(m.workspace_id, m.id), r,
                                       s.event::public.capacity_request_event_type, clock_timestamp()) a
  left join lateral (select * from capacity.asked_now(r) x where x.step = s.step and x.member_id = m.id) n on true
 where r.id = $1 and m.workspace_id = 'acme' and s.done is null and r.review_plan #> array[s.step, 'auto'] is distinct from 'true'
   and (a.allowed and a.counts is distinct from coalesce(n.counts, false) or n.member_id is not null and not a.allowed
        or a.allowed and a.counts and not exists (select from capacity.asked_now(r) x where x.step = s.step and x.asked))`;

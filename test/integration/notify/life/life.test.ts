/** Plays the lives of the table: exactly who is told what, by which channel and when. */
import { describe, expect, test } from "vitest";
import { runTimers } from "../../../../src/capacity/timers.ts";
import { everyVersion } from "../../../helpers/database.ts";
import { noPrices, putPrice } from "../../billing/pricing.ts";
import { customer, startSurfaces, type Surfaces } from "../../capacity/surfaces.ts";
import { age, deadlineIn, quiet } from "../../capacity/timers/time.ts";
import { rowsOf } from "../../capacity/harness.ts";
import { lives, type Happening, type Life } from "./table.ts";

describe.each(everyVersion)("lives on PostgreSQL %i", async (version) => {
  const surfaces = await startSurfaces(version);

  test.each(lives)("$title: everybody is told what the table says, and nobody the same thing twice", async (life) => {
    await prepare(surfaces, life);
    let id = "";
    const seen = new Set<string>();
    const played: { happens: Happening; told: string[] }[] = [];
    for (const { happens } of life.steps) {
      if (happens === "Rita submits it")
        id = (await surfaces.create({ customer, ...(life.large === true ? { cost: 200_000 } : {}) })).id;
      else await happenings[happens](surfaces, id);
      const told: string[] = [];
      for (const line of await linesOf(surfaces, id)) {
        if (seen.has(line.key)) continue;
        seen.add(line.key);
        told.push(line.words);
      }
      played.push({ happens, told });
      await surfaces.release();
    }
    expect(played).toEqual(life.steps);
    expect(
      await rowsOf(
        surfaces.superuser,
        `select n.recipient, p.channel, n.body from notify.notifications n join notify.parts p on p.notification_id = n.id
          where n.about = $1 group by 1, 2, 3 having count(*) > 1`,
        [id],
      ),
    ).toEqual([]);
    expect(await surfaces.unmatched()).toEqual([]);
    await surfaces.expectWhole([id]);
  });
});

async function prepare(surfaces: Surfaces, life: Life): Promise<void> {
  await quiet(surfaces);
  await noPrices(surfaces);
  if (life.large !== true) await putPrice(surfaces);
  await surfaces.settings({ slack_channel_id: life.slack ? "C0CAPACITY" : null });
  await rowsOf(
    surfaces.superuser,
    "update directory.groups set slack_channel_id = $1 where workspace_id = 'acme' and id = 'infra'",
    [life.groupChannel ?? null],
  );
  await rowsOf(surfaces.superuser, "delete from capacity.policies");
  if (life.large === true)
    await surfaces.addPolicy({
      id: "large",
      kind: "escalation",
      step: "commercial",
      min_monthly_cost_usd: 100_000,
      approver_role: "vp",
    });
  await rowsOf(
    surfaces.superuser,
    `update directory.members set email = case when id <> 'rob' then id || '@acme.example' end,
            slack_user_id = case when id <> 'tim' then slack_user_id end where workspace_id = 'acme'`,
  );
}

const happenings: Readonly<Record<Happening, (surfaces: Surfaces, id: string) => Promise<unknown>>> = {
  "Rita submits it": () => Promise.resolve(),
  "Cora approves the commercial review": (s, id) => s.apply(id, "COMMERCIAL_APPROVED", "cora"),
  "Cora endorses it: Vera has to approve": (s, id) => s.apply(id, "COMMERCIAL_APPROVED", "cora"),
  "Vera approves the commercial review": (s, id) => s.apply(id, "COMMERCIAL_APPROVED", "vera"),
  "Tess approves the technical review": (s, id) => s.apply(id, "TECH_REVIEW_APPROVED", "tess"),
  "Tess rejects the technical review": (s, id) => s.apply(id, "TECH_REVIEW_REJECTED", "tess"),
  "Rita nudges": (s, id) => rowsOf(s.superuser, "select public.nudge_capacity_request($1, 'rita')", [id]),
  "a day and an hour pass": async (s, id) => {
    await age(s, id, 25);
    await sweep(s);
  },
  "two days are left for an answer": async (s, id) => {
    await deadlineIn(s, id, 47);
    await sweep(s);
  },
  "the customer's bank fails them": (s, id) =>
    rowsOf(s.superuser, "select billing.tell_failed(r) from capacity.requests r where r.id = $1", [id]),
  "the customer pays": (s, id) => s.apply(id, "CUSTOMER_CONFIRMED", "system:payment:1", { payload: {} }),
  "the mail to the customer bounces, and a minute passes": async (s, id) => {
    await rowsOf(
      s.superuser,
      "update notify.deliveries set outcome = 'bounced', outcome_at = now() where recipient_kind = 'customer' and recipient = $1",
      [id],
    );
    await sweep(s);
  },
  "the time for an answer is over": async (s, id) => {
    await deadlineIn(s, id, -1);
    await sweep(s);
  },
  "provisioning completes": (s, id) => s.apply(id, "PROVISIONING_COMPLETE", "system:job"),
  "provisioning fails": (s, id) => s.apply(id, "PROVISIONING_FAILED", "system:job"),
};

function sweep(surfaces: Surfaces): Promise<unknown> {
  return runTimers(surfaces.db.as("headroom_executor").pool);
}

/** The lines of the table: one for each notification and channel, and one for each message in the thread. */
async function linesOf(surfaces: Surfaces, id: string): Promise<{ key: string; words: string }[]> {
  const told = (await surfaces.toldOf(id)).map(({ instruction, audience, to, channel, stage, title }) => ({
    key: [instruction, audience, to, channel].join(" "),
    words: `${audience.replace(/:.*/, "").replaceAll("_", " ")}: ${to === id ? "the customer" : nameOf(to)}, ${channel}, ${whenOf(stage)}: ${wordsOf(title ?? "", id)}`,
  }));
  const thread = (await surfaces.effects(id))
    .filter(({ effect }) => effect === "slack:root" || effect === "slack:reply")
    .map(({ instruction, effect, payload }) => {
      const mentioned = [...JSON.stringify(payload["blocks"]).matchAll(/<@U0([A-Z]+)>/g)].map(([, name]) =>
        nameOf(name ?? ""),
      );
      const names = mentioned.length === 0 ? "nobody mentioned" : `${[...new Set(mentioned)].join(", ")} mentioned`;
      const said = (payload["text"] as string).replace(/^CR-[0-9-]+: /, "");
      return { key: `${instruction} ${effect}`, words: `thread: ${names}, slack, at once: ${wordsOf(said, id)}` };
    });
  return [...thread, ...told];
}

function nameOf(id: string): string {
  return id.charAt(0).toUpperCase() + id.slice(1).toLowerCase();
}

function whenOf(stage: string): string {
  if (stage === "held") return "within seconds";
  return stage === "shown" || stage === "waiting" ? "at once" : `not sent (${stage})`;
}

function wordsOf(text: string, id: string): string {
  return text
    .replaceAll(` (${id})`, "")
    .replaceAll(id, "…")
    .replaceAll(/\d{4}-\d{2}-\d{2} \d{2}:\d{2} UTC/g, "…");
}

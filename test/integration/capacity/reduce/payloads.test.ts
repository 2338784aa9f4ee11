/**
 * What an event may carry, and from whom; everything else is refused before it is in the log forever.
 */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import type { EventType } from "./model.ts";
import { codeOf, refusalOf, rowsOf, startWorkflow } from "../harness.ts";

describe.each(POSTGRES_VERSIONS)("what an event carries on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);

  test.each([
    ["no reason", {}],
    ["an empty reason", { reason: "" }],
    ["a reason of blanks", { reason: " \n\t " }],
    ["a reason that is no text", { reason: 7 }],
    ["no reason but null", { reason: null }],
    ["a reason of 2001 characters", { reason: "x".repeat(2001) }],
    ["a bell", { reason: "ding \u0007" }],
    ["a carriage return", { reason: "a\rb" }],
    ["a delete character", { reason: "a\u007fb" }],
    ["a control character of the second row", { reason: "a\u0085b" }],
    ["a control character in a name", { reason: "a", "k\u0001": 1 }],
    ["a list", ["reason"]],
    ["a text", "reason"],
  ])("a cancellation with %s is refused", async (_what, payload) => {
    const id = await workflow.createIn("UNDER_REVIEW");
    expect(await codeOf(workflow.apply(id, "CANCEL_APPROVED", "rita", { payload }))).toBe("invalid_payload");
    expect(await workflow.row(id)).toMatchObject({ state: "UNDER_REVIEW", version: 1 });
  });

  test.each([
    ["line feeds and tabs", { reason: "a\n\tb" }],
    ["backslashes that only look like escapes", { reason: String.raw`C:\b\f\r \u0007 \\u0007 \\\b` }],
    ["any script", { reason: "Grund: 容量不足 🙂 ‏عربى" }],
    ["2000 characters", { reason: "x".repeat(2000) }],
  ])("a cancellation with %s is kept as it is", async (_what, payload) => {
    const id = await workflow.createIn("UNDER_REVIEW");
    await workflow.apply(id, "CANCEL_APPROVED", "rita", { payload });
    expect((await workflow.lastShown(id)).payload).toEqual(payload);
    expect(await workflow.row(id)).toMatchObject({ cancellation_reason: payload.reason });
    await workflow.expectWhole([id]);
  });

  const eightLevels = { step: "plan", error: { c: { d: { e: { f: { g: { h: { i: 1 } } } } } } } };
  test("a provisioning error may be long, up to 16 kB and eight levels", async () => {
    const id = await workflow.createIn("PROVISIONING");
    for (const error of [{ b: eightLevels.error }, "x".repeat(16_384)])
      expect(
        (await refusalOf(workflow.apply(id, "PROVISIONING_FAILED", "otto", { payload: { error } }))).detail,
      ).toMatch(/^invalid_payload: .*at most/);
    await workflow.apply(id, "PROVISIONING_FAILED", "otto", { payload: eightLevels });
    expect((await workflow.lastShown(id)).payload).toEqual(eightLevels);
    await workflow.expectWhole([id]);
  });

  const carried: [EventType, string, "UNDER_REVIEW" | "CUSTOMER_CONFIRMATION_REQUIRED" | "PROVISIONING", string[]][] = [
    ["COMMERCIAL_APPROVED", "cora", "UNDER_REVIEW", ["reason"]],
    ["TECH_REVIEW_APPROVED", "tess", "UNDER_REVIEW", ["reason"]],
    ["COMMERCIAL_REJECTED", "cora", "UNDER_REVIEW", ["reason"]],
    ["TECH_REVIEW_REJECTED", "tess", "UNDER_REVIEW", ["reason"]],
    ["CUSTOMER_CONFIRMED", "cora", "CUSTOMER_CONFIRMATION_REQUIRED", ["reason"]],
    ["CUSTOMER_CONFIRMED", "customer:customer", "CUSTOMER_CONFIRMATION_REQUIRED", ["reason"]],
    ["CUSTOMER_CONFIRMED", "system:payment", "CUSTOMER_CONFIRMATION_REQUIRED", ["reason", "payment_id"]],
    ["CUSTOMER_DECLINED", "cora", "CUSTOMER_CONFIRMATION_REQUIRED", ["reason"]],
    ["PROVISIONING_COMPLETE", "otto", "PROVISIONING", ["reason", "job_id", "run_id"]],
    ["PROVISIONING_FAILED", "system:job", "PROVISIONING", ["reason", "job_id", "run_id", "step", "error"]],
    ["CANCEL_APPROVED", "rita", "PROVISIONING", ["reason"]],
  ];
  test.each(carried)(
    "%s by %s, of a request that is %s, takes %j and nothing else",
    async (event, by, state, takes) => {
      const id = await workflow.createIn(state);
      const jobs = await rowsOf<{ id: string }>(
        workflow.superuser,
        "select id from provisioning.jobs where request_id = $1",
        [id],
      );
      const payload = Object.fromEntries(takes.map((name) => [name, name === "job_id" ? jobs[0]?.id : `the ${name}`]));
      const fields = [
        "counts",
        "on_behalf_of",
        "confirmation_token_id",
        "rule",
        "payment_id",
        "job_id",
        "step",
        "more",
      ];
      const before = await workflow.row(id);
      for (const field of fields.filter((name) => !takes.includes(name))) {
        expect(
          await refusalOf(workflow.apply(id, event, by, { payload: { ...payload, [field]: false } })),
        ).toMatchObject({
          code: "PT400",
          detail: `invalid_payload: ${event} takes ${takes.join(", ")}; not ${field}`,
        });
      }
      expect(await workflow.row(id)).toEqual(before);
      await workflow.apply(id, event, by, { payload });
      expect((await workflow.lastShown(id)).payload).toMatchObject(payload);
      await workflow.expectWhole([id]);
    },
  );

  test("only the system names the rule that approved", async () => {
    await workflow.addPolicy({ id: "small", kind: "auto_approval", step: "technical", sizes: ["S"] });
    const id = await workflow.createIn("UNDER_REVIEW", { size: "S" });
    expect((await workflow.events(id)).at(-1)).toMatchObject({ actor_type: "system", payload: { rule: "small" } });
    const payload = { rule: "small" };
    expect(await codeOf(workflow.apply(id, "COMMERCIAL_APPROVED", "cora", { payload }))).toBe("invalid_payload");
    await rowsOf(workflow.superuser, "delete from capacity.policies");
  });
});

/** A database with the engine alone: the engine's commands work, and the others say that they need the rest. */
import { describe, expect, test } from "vitest";
import { createEmptyDatabase } from "../../../helpers/database.ts";
import { headroom, startHeadroom } from "../harness.ts";

describe("with the engine alone", async () => {
  const db = await createEmptyDatabase();
  const env = { DATABASE_URL: db.url, HEADROOM_SECRET_KEY: "k".repeat(40) };
  const run = (...parameters: string[]) => headroom(parameters, { env });

  test("migrate installs it and says what comes next, without mentioning a gateway", async () => {
    const outcome = await run("migrate", "--only", "outbox");
    expect(outcome.status).toBe(0);
    expect(outcome.out).toContain("applied    migrations/0013_ledger_schema.sql");
    expect(outcome.out).toContain("headroom relay");
    expect(outcome.out).not.toMatch(/capacity|directory|inbound|headroom_gateway/);
    expect(await run("migrate", "--only", "inbox")).toMatchObject({ status: 2 });
  });

  test.each([
    [["outbox", "status"]],
    [["outbox", "dead"]],
    [["outbox", "destinations"]],
    [["outbox", "stream"]],
    [["outbox", "alerts", "list"]],
    [["endpoint", "add", "shop", "--url", "https://shop.example.com/hooks", "--topic", "*"]],
    [["endpoint", "list"]],
    [["endpoint", "remove", "shop"]],
    [["secret", "list"]],
  ])("headroom %j works", async (parameters) => {
    expect(await run(...parameters)).toMatchObject({ status: 0, err: "" });
  });

  test.each([
    [["verify"]],
    [["request", "list"]],
    [["request", "show", "CR-2026-000042"]],
    [["members", "list"]],
    [["members", "put", "ann", "--name", "Ann"]],
    [["policy", "list"]],
    [["insights", "backlog"]],
    [["keys", "list"]],
    [["endpoint", "subscriptions"]],
  ])("headroom %j says that only the engine is installed, and how to add the rest", async (parameters) => {
    const outcome = await run(...parameters, "--json");
    expect(outcome.status).toBe(1);
    expect(JSON.parse(outcome.out)).toMatchObject({
      error: { code: "engine_only", hint: expect.stringContaining("headroom migrate") },
    });
  });

  test("doctor reports a healthy engine, and leaves out what is not installed", async () => {
    const outcome = await run("doctor", "--offline", "--json");
    const { findings } = JSON.parse(outcome.out) as {
      findings: { group: string; check: string; status: string; message: string; remedy?: string }[];
    };
    const byCheck = new Map(findings.map((finding) => [finding.check, finding]));
    expect(byCheck.get("roles")).toMatchObject({ status: "ok" });
    expect(byCheck.get("schema")).toMatchObject({ status: "ok", message: expect.stringContaining("engine alone") });
    expect(byCheck.get("workflow")).toMatchObject({
      status: "skipped",
      remedy: expect.stringContaining("headroom migrate"),
    });
    expect(findings.filter(({ status }) => status === "failure")).toEqual([]);
    expect(outcome.status).toBe(0);
  });

  test("a relay runs, and logs nothing about timers and jobs that do not exist", async () => {
    const relay = startHeadroom(["relay", "--json", "--metrics-port", "0"], { env });
    const ready = JSON.parse(await relay.line((line) => line.includes("relay_ready"))) as { metricsUrl: string };
    const scrape = await (await fetch(`${ready.metricsUrl}/metrics`)).text();
    expect(scrape).toContain("headroom_database_up 1");
    expect(scrape).not.toContain("headroom_provisioning");
    const { status } = await relay.end();
    expect(status).toBe(0);
    expect([...relay.lines, ...relay.errors].join("\n")).not.toContain("timers_failed");
  });

  test("the rest can be added, and then everything works", async () => {
    expect(await run("migrate")).toMatchObject({ status: 0 });
    expect(await run("request", "list")).toMatchObject({ status: 0, err: "" });
    await db[Symbol.asyncDispose]();
  });
});

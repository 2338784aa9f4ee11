/** `headroom outbox stream`, `limit` and `destinations`: settings of the engine without writing SQL. */
import { expect, test } from "vitest";
import { probeRail } from "../../outbox/relay/rails.ts";
import { createStage } from "../../outbox/relay/stage.ts";
import { headroom, type Outcome } from "../harness.ts";

const stage = await createStage();
const env = { DATABASE_URL: stage.db.as("headroom_control").url };

function outbox(...parameters: string[]): Promise<Outcome> {
  return headroom(["outbox", ...parameters], { env });
}

async function answer<T>(...parameters: string[]): Promise<T> {
  const { out, status } = await outbox(...parameters, "--json");
  expect(status).toBe(0);
  return JSON.parse(out) as T;
}

async function refused(message: string, ...parameters: string[]): Promise<void> {
  expect(await outbox("stream", ...parameters)).toMatchObject({ out: "", err: expect.stringContaining(message) });
}

function sql(changes: string): Promise<unknown> {
  return stage.query("select outbox.change_stream('transfers', $1)", [changes]);
}

interface Answer {
  readonly made: boolean;
  readonly stream: Record<string, unknown>;
}

test("a stream is made, shown, and changed setting by setting; what can be lifted is lifted", async () => {
  const made = await answer<Answer>(
    "stream",
    "mine",
    "--create",
    "--no-order",
    "--retention",
    "week",
    "--max-tries",
    "3",
  );
  expect(made).toMatchObject({ made: true, stream: { name: "mine", ordered: false, maxTries: 3, dedupeDays: null } });
  const some = ["--max-tries", "8", "--backoff-factor", "1.5", "--dedupe-days", "30", "--resend-blind"];
  const writers = ["--writer", "headroom_ingest", "--writer", "headroom_control"];
  const changed = await answer<Answer>("stream", "mine", ...some, ...writers);
  expect(changed).toMatchObject({
    made: false,
    stream: {
      maxTries: 8,
      backoffFactor: 1.5,
      dedupeDays: 30,
      writers: ["headroom_ingest", "headroom_control"],
      resendBlind: true,
    },
  });
  const lifted = await answer<Answer>("stream", "mine", "--no-dedupe-days", "--no-writer", "--no-resend-blind");
  expect(lifted).toMatchObject({ stream: { dedupeDays: null, writers: null, resendBlind: false, maxTries: 8 } });
  expect((await outbox("stream")).out).toMatch(/mine +none +skip +8 +2000 ms ×1.5/);
  expect((await outbox("stream", "mine")).out).toContain("idempotency keys          remembered forever");
  expect((await outbox("stream", "mine", "--max-tries", "9")).out).toContain("relays need no restart");
  expect((await outbox("stream", "mine", "--lease-seconds", "100")).out).toContain("restart them one after the other");
});

test("invalid changes are refused, and nothing is changed", async () => {
  await refused(
    "There are: notifications, alerts, payments, transfers, ledger, people, capacity,",
    "transfer",
    "--max-tries",
    "3",
  );
  await refused("fixed when a stream is created", "transfers", "--retention", "forever");
  await refused("at least as long as the archive (7 days)", "transfers", "--dedupe-days", "3");
  await refused("Only Headroom's own functions write", "transfers", "--writer", "headroom_ingest");
  await refused("not roles of this server", "notifications", "--writer", "nobody-here");
  await refused("cannot block", "notifications", "--on-dead", "block");
  await refused("1 to 1000", "transfers", "--max-tries", "0");
  expect(await answer<Answer>("stream", "transfers")).toMatchObject({
    stream: { maxTries: 5, dedupeDays: 90, onDead: "skip", writers: [] },
  });
  await expect(sql('{"ordered": false}')).rejects.toThrow("no such setting, or it is fixed: ordered");
  await expect(sql('{"max_tries": "many"}')).rejects.toThrow("was not changed");
  await expect(sql('{"max_tries": null}')).rejects.toThrow("was not changed");
  await expect(sql("[]")).rejects.toThrow("an object");
});

test("a lease is not shortened while relays rely on it", async () => {
  const rail = probeRail();
  const relay = await stage.run({ rails: [rail], streams: ["notifications"] });
  expect(await outbox("stream", "notifications", "--lease-seconds", "60")).toMatchObject({
    status: 1,
    err: expect.stringContaining("Stop the relays, change it, and start them again"),
  });
  expect(await outbox("stream", "notifications", "--lease-seconds", "120")).toMatchObject({ status: 0 });
  await relay.stop();
  expect(await outbox("stream", "notifications", "--lease-seconds", "60")).toMatchObject({ status: 0 });
});

test("a relay says which rails it serves, in the list of relays and after its end", async () => {
  const rail = probeRail();
  const relay = await stage.run({ rails: [rail], streams: [], name: "tells" });
  const { relays } = await answer<{ relays: { name: string; rails: string[] }[] }>("status");
  expect(relays.find(({ name }) => name === "tells")?.rails).toEqual([rail.name]);
  await relay.stop();
  const [served] = await stage.query<{ lately: boolean }>(
    "select served_seconds_ago < 60 as lately from outbox.rail_status() where rail = $1",
    [rail.name],
  );
  expect(served).toEqual({ lately: true });
});

test("a destination is limited by its name, and an endpoint by its own", async () => {
  expect((await outbox("destinations")).out).toMatch(/slack: +- +one every 1000 ms +closed/);
  const first = await outbox("limit", "partner", "--per-second", "4", "--failures", "3", "--open-ms", "60000");
  expect(first).toMatchObject({
    status: 0,
    err: "",
    out: expect.stringContaining("partner is sent to at most once every 250 ms."),
  });
  expect(first.out).toContain("Check the name");
  expect(
    await stage.query(
      "select min_interval_ms, failure_threshold, open_base_ms from outbox.limits where name = 'partner'",
    ),
  ).toEqual([{ min_interval_ms: 250, failure_threshold: 3, open_base_ms: 60_000 }]);
  expect(await answer("limit", "partner", "--per-second", "0")).toMatchObject({ minIntervalMs: 0, isNew: false });
  expect((await outbox("destinations")).out).toMatch(/partner +- +none +closed/);

  const added = ["endpoint", "add", "theirs", "--url", "https://theirs.example/hook"];
  expect(await headroom(added, { env: { ...env, HEADROOM_SECRET_KEY: "k".repeat(40) } })).toMatchObject({ status: 0 });
  await stage.query("select outbox.limit_destination('endpoint:' || id) from webhooks.endpoints where name = 'theirs'");
  expect(await answer("limit", "theirs", "--min-interval-ms", "100")).toMatchObject({
    destination: expect.stringMatching(/^endpoint:/),
    minIntervalMs: 100,
    isNew: false,
  });
  expect(await outbox("limit", "partner")).toMatchObject({ status: 2, err: expect.stringContaining("--per-second 5") });
  expect(await outbox("limit", "partner", "--per-second", "1", "--min-interval-ms", "1")).toMatchObject({ status: 2 });
});

test("a destination is cleared without changing its limits, and only if it exists", async () => {
  await outbox("limit", "cleared", "--per-second", "2");
  expect(await outbox("limit", "cleared", "--clear")).toMatchObject({
    status: 0,
    out: "cleared is sent to at most once every 500 ms. Its pause is ended and its circuit is closed. All relays follow this from their next claim on.\n",
  });
  expect(await outbox("limit", "misspelt", "--clear", "--per-second", "2")).toMatchObject({
    status: 1,
    err: expect.stringContaining('There is no destination "misspelt".'),
  });
  expect(await stage.query("select name, clears from outbox.limits where name in ('cleared', 'misspelt')")).toEqual([
    { name: "cleared", clears: expect.anything() },
  ]);
});

/**
 * The tables by which jobs move, over all combinations: every state with every event, and every callback in every situation. The models
 * here are written by hand from the requirement, not from the tables.
 */
import { describe, expect, test } from "vitest";
import { createTestDatabase } from "../../helpers/database.ts";
import { oneOf, refusalOf, rowsOf } from "../capacity/harness.ts";

const states = ["new", "waiting", "queued", "provisioning", "failed", "running", "given_up", "cancelled"] as const;
const events = [
  "CREATED",
  "DISPATCHED",
  "CLAIMED",
  "SUCCEEDED",
  "FAILED",
  "RETRIED",
  "GAVE_UP",
  "CANCELLED",
  "RECORDED_RUNNING",
  "RECORDED_FAILED",
  "CLEANED",
] as const;
type State = (typeof states)[number];

function model(state: State, event: (typeof events)[number]): State | null {
  if (state === "new") return event === "CREATED" ? "waiting" : null;
  // A person may clean up whenever no run is active.
  if (event === "CLEANED") return state === "queued" || state === "provisioning" ? null : state;
  if (["running", "given_up", "cancelled"].includes(state)) return null;
  switch (event) {
    case "CREATED":
      return null;
    case "DISPATCHED":
      return state === "waiting" ? "queued" : null;
    case "CLAIMED":
      return state === "queued" ? "provisioning" : null;
    case "SUCCEEDED":
      return state === "provisioning" ? "running" : null;
    case "FAILED":
      return state === "queued" || state === "provisioning" ? "failed" : null;
    case "RETRIED":
      // Also of an old request, which nobody has begun.
      return state === "failed" || state === "waiting" ? "waiting" : null;
    case "GAVE_UP":
      return state === "failed" || state === "waiting" ? "given_up" : null;
    case "CANCELLED":
      return "cancelled";
    case "RECORDED_RUNNING":
      return "running";
    default:
      return "given_up";
  }
}

const statuses = ["dispatched", "claimed", "succeeded", "failed", "stopped"] as const;
const runs = ["none", "own", "rerun", "other"] as const;
const signals = ["claim", "heartbeat", "succeeded", "failed"] as const;

/** Null: no attempt can be in this situation. */
function callback(
  status: (typeof statuses)[number],
  run: (typeof runs)[number],
  signal: (typeof signals)[number],
): string | null {
  if (status === "dispatched" && run === "rerun") return null;
  if ((status === "claimed" || status === "succeeded") && run === "none") return null;
  if (status === "dispatched" && run === "none") return "early";
  if (status === "dispatched" && run === "own") return signal;
  if (run !== "own") return "stop";
  if (status === "claimed") return signal === "claim" ? "repeated" : signal;
  // We ended it, and now it reports that it has ended.
  if (status === "stopped") return signal === "claim" || signal === "heartbeat" ? "stop" : "over";
  if (signal === status) return "repeated";
  return signal === "claim" || signal === "heartbeat" ? "stop" : "ignored";
}

const key = (rule: { status: string; run: string; signal: string }): string =>
  [rule.status, rule.run, rule.signal].join(" ");

describe("the tables of provisioning", async () => {
  const db = await createTestDatabase();
  const pool = db.superuser.pool;

  test.each(states.flatMap((state) => events.map((event) => [state, event] as const)))(
    "a job that is %s and %s",
    async (state, event) => {
      const after = model(state, event);
      const asked = oneOf<{ after: string }>(pool, "select provisioning.next_state($1, $2) as after", [state, event]);
      if (after === null) {
        expect(await refusalOf(asked)).toMatchObject({
          code: "PT409",
          detail: `invalid_transition: state ${state}, event ${event}`,
        });
      } else {
        expect((await asked).after).toBe(after);
      }
    },
  );

  test("unknown states and events are refused by the same name", async () => {
    for (const [state, event] of [
      [null, "CREATED"],
      ["waiting", null],
      ["nowhere", "NOTHING"],
    ]) {
      expect((await refusalOf(oneOf(pool, "select provisioning.next_state($1, $2)", [state, event]))).detail).toMatch(
        /^invalid_transition: /,
      );
    }
  });

  test("every callback has exactly one rule, and it is the one of the requirement", async () => {
    const rules = await rowsOf<{ status: string; run: string; signal: string; outcome: string }>(
      pool,
      "select status, run, signal, outcome from provisioning.callback_rules()",
    );
    const wanted = statuses.flatMap((status) =>
      runs.flatMap((run) =>
        signals.flatMap((signal) => {
          const outcome = callback(status, run, signal);
          return outcome === null ? [] : [{ status, run, signal, outcome }];
        }),
      ),
    );
    expect(rules.toSorted((a, b) => key(a).localeCompare(key(b)))).toEqual(
      wanted.toSorted((a, b) => key(a).localeCompare(key(b))),
    );
  });
});

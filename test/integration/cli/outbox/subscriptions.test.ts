/** `headroom endpoint subscribe …`: endpoints of the relays' file receive a workspace's events. */
import { expect, test } from "vitest";
import { createTestDatabase } from "../../../helpers/database.ts";
import { headroom, type Outcome } from "../harness.ts";

const db = await createTestDatabase();
const env = { DATABASE_URL: db.as("headroom_control").url };

function endpoint(...parameters: string[]): Promise<Outcome> {
  return headroom(["endpoint", ...parameters], { env });
}

async function subscriptions(): Promise<unknown> {
  const { out } = await endpoint("subscriptions", "--json");
  return (JSON.parse(out) as { subscriptions: unknown }).subscriptions;
}

test("an endpoint is subscribed, narrowed, paused, resumed and removed", async () => {
  expect((await endpoint("subscriptions")).out).toContain("No endpoint is subscribed in workspace default");
  expect(await endpoint("subscribe", "orders")).toMatchObject({
    status: 0,
    err: "",
    out: expect.stringContaining("From now on orders receives all events of workspace default."),
  });
  const fewer = ["--event", "REQUEST_SUBMITTED", "--event", "CANCEL_APPROVED"];
  expect((await endpoint("subscribe", "orders", ...fewer)).out).toContain("REQUEST_SUBMITTED, CANCEL_APPROVED");
  expect((await endpoint("subscribe", "orders", "--disable")).out).toContain("is paused");
  expect(await subscriptions()).toEqual([
    expect.objectContaining({
      endpoint: "orders",
      enabled: false,
      eventTypes: ["REQUEST_SUBMITTED", "CANCEL_APPROVED"],
    }),
  ]);
  await endpoint("subscribe", "orders", "--enable", "--all-events");
  expect(await subscriptions()).toEqual([expect.objectContaining({ enabled: true, eventTypes: null })]);
  expect((await endpoint("subscriptions")).out).toMatch(/orders +enabled +all events/);
  expect(await endpoint("unsubscribe", "orders")).toMatchObject({ status: 0, err: "" });
  expect(await subscriptions()).toEqual([]);
});

test("invalid calls are refused with the way out", async () => {
  expect(await endpoint("unsubscribe", "nobody")).toMatchObject({
    status: 1,
    err: expect.stringContaining("headroom endpoint subscriptions"),
  });
  expect(await endpoint("subscribe", "orders", "--event", "CANCELLED")).toMatchObject({
    status: 1,
    err: expect.stringContaining("CANCEL_APPROVED"),
  });
  expect(await endpoint("subscribe", "orders", "--enable", "--disable")).toMatchObject({ status: 2 });
  expect(await endpoint("subscribe", "orders", "--workspace", "nowhere")).toMatchObject({
    status: 1,
    err: expect.stringContaining('There is no workspace "nowhere"'),
  });
  expect(await endpoint("subscriptions", "--workspace", "nowhere")).toMatchObject({ status: 1 });
});

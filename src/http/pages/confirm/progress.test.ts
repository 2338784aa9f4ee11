import { describe, expect, test } from "vitest";
import { progressSection } from "./progress.ts";
import { confirmationSchema } from "./story.ts";

const story = {
  status: "confirmed",
  decided_at: null,
  decided_by: null,
  expires_at: "2026-01-01T00:00:00Z",
  request_id: "CR-2026-000042",
  workspace: "Acme",
  contact: null,
  requested_size: "32XL",
  quantity: 1,
  region: "us-east-1",
  needed_by_date: null,
  expected_duration_days: null,
  estimated_monthly_cost_usd: null,
  billing: null,
  readable_until: "2026-03-01T00:00:00Z",
};
const payment = {
  receipt: "R-1",
  currency: "USD",
  digits: 2,
  amount: 12_000,
  paid_at: "2026-01-01T00:00:00Z",
  counts: true,
  purpose: "confirmation",
  refunds: [],
  dispute: null,
};
const billing = {
  digits: 2,
  held: false,
  erased: false,
  withdrawn: false,
  checkout: null,
  payments: [payment],
  subscription: null,
};

async function shown(state: string, endsAt: string | null, more: object = {}): Promise<string> {
  const provisioning = {
    state,
    held_by: null,
    progress: null,
    since: "2026-01-01T00:00:00Z",
    completed_at: null,
    ends_at: endsAt,
    steps: [],
  };
  const section = `${await progressSection(confirmationSchema.parse({ ...story, provisioning, ...more }))}`;
  return section.replaceAll(/<[^>]*>/g, "").replaceAll(/\s+/g, " ");
}

describe("an order that is stuck", () => {
  const endsAt = "2026-01-04T12:00:00Z";

  test("says how long we wait for it", async () => {
    const page = await shown("delayed", endsAt);
    expect(page).toMatch(/If it is not set up by .*12:00.*, it is called off\./);
    expect(page).not.toContain("paid");
  });

  test("says what happens to the money", async () => {
    expect(await shown("delayed", endsAt, { billing })).toMatch(
      /it is called off, and what you paid goes back to you\./,
    );
  });

  test("promises nothing if there is no deadline, or if work continues", async () => {
    expect(await shown("delayed", null, { billing })).not.toContain("called off");
    expect(await shown("provisioning", endsAt, { billing })).not.toContain("called off");
  });
});

/** A story as capacity.story_of() returns it, the only input of every renderer. Tests change the part that they are about. */
import type { Json } from "../../../../src/contract/rail.ts";

export type Story = { readonly [name: string]: Json };

const submittedAt = 1_767_348_000; // 2026-01-02 10:00 UTC

/** Rita asks for four machines; Cora and the infra group are asked. */
export const submitted: Story = {
  workspace: "acme",
  workspace_name: "Acme",
  id: "CR-2026-000042",
  version: 1,
  state: "UNDER_REVIEW",
  channel: "C0CAPACITY",
  what: "4 × 32XL in us-east-1",
  size: "32XL",
  quantity: 4,
  region: "us-east-1",
  needed_by: "2026-02-01",
  duration_days: 30,
  monthly_cost: 12_500,
  offer: null,
  replaces: null,
  requester: "rita",
  deadline: null,
  token_id: null,
  new_id: "0f4b2f3e-9d3c-4f5a-8f2b-1c2d3e4f5a6b",
  linear_team: "team-1",
  linear_state: null,
  public_url: "https://capacity.acme.example",
  customer: "Initech",
  email: "buyer@initech.example",
  commercial: {
    by: null,
    at: null,
    endorsed_by: null,
    auto: false,
    asked: ["cora"],
  },
  technical: {
    by: null,
    at: null,
    auto: false,
    asked: ["tess", "tim"],
  },
  next: [],
  people: {
    rita: { name: "Rita", slack: "U0RITA" },
    cora: { name: "Cora", slack: "U0CORA" },
    tess: { name: "Tess", slack: "U0TESS" },
    tim: { name: "Tim", slack: null },
  },
  event: "REQUEST_SUBMITTED",
  event_id: "7c9e6679-7425-40de-944b-e07fc1f90ae7",
  instruction: "CR-2026-000042#1",
  at: submittedAt,
  state_before: "SUBMITTED",
  state_after: "UNDER_REVIEW",
  actor_type: "user",
  actor: "rita",
  counts: null,
  on_behalf: null,
  reason: null,
};

/** Cora has approved, and Tess approves now: the customer is asked until 2026-01-10 10:00 UTC. */
export const confirmationRequired: Story = {
  ...submitted,
  version: 3,
  state: "CUSTOMER_CONFIRMATION_REQUIRED",
  next: ["cora"],
  deadline: submittedAt + 8 * 86_400,
  token_id: "b3f1c2d4-5e6f-4a7b-8c9d-0e1f2a3b4c5d",
  commercial: { by: "cora", at: submittedAt + 3_600, endorsed_by: null, auto: false, asked: [] },
  technical: { by: "tess", at: submittedAt + 86_400, auto: false, asked: [] },
  event: "TECH_REVIEW_APPROVED",
  instruction: "CR-2026-000042#3",
  at: submittedAt + 86_400,
  state_before: "UNDER_REVIEW",
  state_after: "CUSTOMER_CONFIRMATION_REQUIRED",
  actor: "tess",
};

export const rejected: Story = {
  ...submitted,
  version: 2,
  state: "REJECTED",
  next: ["rita"],
  commercial: { by: null, at: null, endorsed_by: null, auto: false, asked: [] },
  technical: { by: null, at: null, auto: false, asked: [] },
  event: "COMMERCIAL_REJECTED",
  instruction: "CR-2026-000042#2",
  at: submittedAt + 3_600,
  state_before: "UNDER_REVIEW",
  state_after: "REJECTED",
  actor: "cora",
  reason: "Too <large> & too soon.\nAsk again in *May*.",
};

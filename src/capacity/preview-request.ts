/** What would become of a request, without making it. */
import { previewSchema, type Preview } from "./answer-schemas.ts";
import { call, type Queryable } from "../db/call.ts";
import type { RequestTerms } from "./create-request.ts";
import { refusable, type Refused } from "../db/refusal.ts";

export type Previewed = { readonly outcome: "previewed"; readonly preview: Preview };

export async function previewRequest(db: Queryable, terms: RequestTerms): Promise<Previewed | Refused> {
  return refusable(preview(db, terms));
}

async function preview(db: Queryable, terms: RequestTerms): Promise<Previewed> {
  const answer = await call(db, "public.preview_capacity_request", {
    p_requester_user_id: terms.requester,
    p_commercial_owner_user_id: terms.commercialOwner ?? null,
    p_infra_owner_group: terms.infraGroup ?? null,
    p_requested_size: terms.size,
    p_quantity: terms.quantity,
    p_region: terms.region,
    p_estimated_monthly_cost_usd: terms.monthlyCostUsd,
    p_workspace_id: terms.workspaceId,
    p_slack_channel_id: terms.slackChannelId,
    p_customer_ref: terms.customerRef,
    p_customer_id: terms.customerId,
    p_expected_duration_days: terms.durationDays,
  });
  return { outcome: "previewed", preview: previewSchema.parse(answer) };
}

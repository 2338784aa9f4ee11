/**
 * The terms of a request, and the database's arguments for them. Separate from the wrappers that call the database, because the
 * client of the HTTP API sends the same ones where there is no database driver.
 */

/** The requested capacity. */
export interface RequestTerms {
  /** A member, by id or Slack id. */
  readonly requester: string;
  /** Left out where a policy names one. */
  readonly commercialOwner?: string | undefined;
  /** Left out where a policy names one. */
  readonly infraGroup?: string | undefined;
  readonly size: string;
  readonly quantity: number;
  readonly region: string;
  /** For how long. A price may depend on it. */
  readonly durationDays?: number | undefined;
  /** In US dollars, with cents as decimals. If left out, every escalation applies. If there is a price, that is used instead. */
  readonly monthlyCostUsd?: number | string | undefined;
  /** Default: `default`, or the workspace of the caller's token. */
  readonly workspaceId?: string | undefined;
  /** Default: the workspace's. */
  readonly slackChannelId?: string | undefined;
  /** Who wants it, with as little as possible, such as `{ org_id, name, email }`. The `email` gets the link. */
  readonly customerRef?: unknown;
  /** Your id for the customer: the same on all their requests. Default: `org_id` of `customerRef`, else derived from the `email`. */
  readonly customerId?: string | undefined;
  /** Why it is needed, for those who decide: up to 2,000 characters. The customer does not see it. */
  readonly justification?: string | undefined;
}

export interface NewRequest extends RequestTerms {
  /** A calendar date, `2027-01-31`. */
  readonly neededBy?: string | undefined;
  /** How long the customer may take to answer. Default: 7. */
  readonly confirmationTtlDays?: number | undefined;
  /** A second call with the same key and content gives the first call's request. */
  readonly idempotencyKey?: string | undefined;
  /** The request that this one replaces. */
  readonly replaces?: string | undefined;
}

/** The arguments of public.preview_capacity_request. */
export function termArguments(terms: RequestTerms) {
  return {
    p_requester_user_id: terms.requester,
    p_commercial_owner_user_id: terms.commercialOwner ?? null,
    p_infra_owner_group: terms.infraGroup ?? null,
    p_customer_ref: terms.customerRef ?? null,
    p_requested_size: terms.size,
    p_quantity: terms.quantity,
    p_region: terms.region,
    p_expected_duration_days: terms.durationDays ?? null,
    p_estimated_monthly_cost_usd: terms.monthlyCostUsd,
    p_workspace_id: terms.workspaceId,
    p_slack_channel_id: terms.slackChannelId,
    p_customer_id: terms.customerId,
    p_justification: terms.justification,
  };
}

/** The arguments of public.create_capacity_request. */
export function newRequestArguments(terms: NewRequest) {
  return {
    ...termArguments(terms),
    p_needed_by_date: terms.neededBy ?? null,
    p_confirmation_ttl_days: terms.confirmationTtlDays,
    p_idempotency_key: terms.idempotencyKey,
    p_replaces_request_id: terms.replaces,
  };
}

/**
 * The people and data of the stage: people, prices in four currencies, and settings with short times.
 */
import { password } from "../kit/secrets.ts";

export const callbackSecret = "a secret that runs of Acme sign their callbacks with";
export const webhookSecret = `whsec_${"s".repeat(32)}`;

/** An application's rails: one that a relay serves, and one that none serves. */
export const shopRail = "shop";
export const foreignRail = "nowhere";
/** A stranger who may only connect. */
export const plainLogin = "chaos_stranger";

/** The products, with how often each is chosen. Prices of the first kind are never withdrawn. */
export const sizes: readonly (readonly [string, number])[] = [
  ["32XL", 8],
  ["EURO", 3],
  ["YEN", 2],
  ["DINAR", 1],
  ["MONTHLY", 2],
  ["DOOMED", 1],
];

export const doomedPrice = { size: "DOOMED", kind: "one_off", currency: "USD", unit_amount: 7_100 } as const;

export function people(headroomUrl: string): string {
  return `
alter role headroom_ingest login password '${password}';
do $$ begin create role ${plainLogin} login password '${password}'; exception when duplicate_object then null; end $$;
select outbox.register_rail(r, 'idempotent', 1000) from unnest('{${shopRail},${foreignRail}}'::text[]) r;
insert into directory.workspaces (id, name, public_url) values ('acme', 'Acme', 'http://127.0.0.1');
insert into directory.members (workspace_id, id, display_name, roles) values
  ('acme', 'rita', 'Rita', '{requester}'), ('acme', 'cora', 'Cora', '{commercial}'), ('acme', 'tess', 'Tess', '{requester}'),
  ('acme', 'otto', 'Otto', '{operator}');
insert into directory.groups (workspace_id, id, name) values ('acme', 'infra', 'Infra');
insert into directory.group_members (workspace_id, group_id, member_id) values ('acme', 'infra', 'tess');
select provisioning.put_settings('acme', '{"owner": "acme", "repo": "infrastructure", "callback_url": "${headroomUrl}/webhooks/provisioning"}');
select provisioning.put_secret('acme', '${callbackSecret}');
select headroom.set_secret('STRIPE_WEBHOOK_SECRET', '${webhookSecret}');
select headroom.set_secret('CONFIRMATION_TOKEN_SECRET', '${"c".repeat(40)}');
select billing.set_rate('acme', c, 1, 'otto') from unnest('{EUR,JPY,KWD}'::text[]) c;
select billing.put_price('acme', p, 'otto') from jsonb_array_elements('[
  {"size": "32XL", "kind": "one_off", "currency": "USD", "unit_amount": 30000},
  {"size": "EURO", "kind": "one_off", "currency": "EUR", "unit_amount": 12345},
  {"size": "YEN", "kind": "one_off", "currency": "JPY", "unit_amount": 507},
  {"size": "DINAR", "kind": "one_off", "currency": "KWD", "unit_amount": 10250},
  {"size": "MONTHLY", "kind": "recurring", "currency": "USD", "unit_amount": 10001},
  ${JSON.stringify(doomedPrice)}]'::jsonb) p;
update outbox.streams set lease_seconds = 14, backoff_base_ms = 100, backoff_cap_ms = 1000
 where name in ('billing', 'payments', 'refunds', 'subscriptions', 'provisioning');

-- Requests that only wait for their customers, a set of them in one transaction.
create function public.chaos_offer(p_wanted jsonb) returns jsonb language plpgsql as $$
declare
  v_wanted record;
  v_id text;
  v_offers jsonb := '[]';
begin
  for v_wanted in select * from jsonb_to_recordset(p_wanted) w(customer text, size text, quantity integer) loop
    v_id := (public.create_capacity_request(p_requester_user_id => 'rita', p_commercial_owner_user_id => 'cora', p_infra_owner_group => 'infra',
      p_customer_ref => jsonb_build_object('org_id', v_wanted.customer, 'name', v_wanted.customer), p_requested_size => v_wanted.size,
      p_quantity => v_wanted.quantity, p_region => 'us-east-1', p_needed_by_date => null, p_expected_duration_days => 30,
      p_confirmation_ttl_days => 7, p_workspace_id => 'acme')).id;
    perform capacity.decide(v_id, 'COMMERCIAL_APPROVED', row('user', 'cora', 'test')::capacity.actor, '{}');
    perform capacity.decide(v_id, 'TECH_REVIEW_APPROVED', row('user', 'tess', 'test')::capacity.actor, '{}');
    v_offers := v_offers || jsonb_build_object('id', v_id, 'token',
      (select capacity.confirmation_token(t.id) from capacity.confirmation_tokens t where t.request_id = v_id and t.revoked_at is null));
  end loop;
  return v_offers;
end $$;
insert into outbox.limits (name, min_interval_ms, failure_threshold, open_base_ms) values ('stripe', 0, 20, 300);
`;
}

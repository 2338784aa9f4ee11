-- Asks Stripe for the current state of something, because webhooks get lost. The call has its own lane, so that it delays nothing, and it
-- expires, because a late answer is worthless. Each number makes a new question; without a number there is one question a minute. p_since,
-- where Stripe's id is unknown: only objects made since then.
create or replace function billing.look(
  p_workspace_id text, p_kind text, p_id text, p_number integer default null, p_since timestamptz default null
) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text := format('look:%s:%s', p_kind, p_id);
begin
  perform billing.ask_stripe(jsonb_build_object(
    'workspace_id', p_workspace_id, 'stream', 'billing', 'key', v_name, 'instruction_id', v_name,
    'idempotency_key', 'look-' || coalesce(p_number, (extract(epoch from now()) / 60)::integer),
    'payload', jsonb_strip_nulls(jsonb_build_object(
      'operation', 'look', 'kind', p_kind, 'id', p_id, 'since', extract(epoch from p_since)::bigint)),
    'capture', 'seen', 'expires_at', clock_timestamp() + interval '30 minutes'));
end
$$;
comment on function billing.look(text, text, text, integer, timestamptz)
  is 'Enqueues a question to Stripe. Nullable: p_workspace_id, p_number, p_since.';

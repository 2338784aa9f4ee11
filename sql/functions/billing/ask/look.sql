-- Asks Stripe how something stands, because webhooks get lost. In a lane of its own, so that it holds nothing up, and not worth doing
-- late. The number makes each look a new question; without one there is one in a minute. p_since: not made before then, for what nobody
-- knows Stripe's id of.
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

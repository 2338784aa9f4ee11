-- Asks Stripe how something stands, because webhooks get lost. In a lane of its own, so that it holds nothing up, and not worth doing
-- late. The number makes each look a new question; without one there is one in a minute.
create or replace function billing.look(p_workspace_id text, p_kind text, p_id text, p_number integer default null) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text := format('look:%s:%s', p_kind, p_id);
begin
  perform billing.ask_stripe(
    p_workspace_id, 'billing', v_name, v_name, 'look-' || coalesce(p_number, (extract(epoch from now()) / 60)::integer),
    jsonb_build_object('operation', 'look', 'kind', p_kind, 'id', p_id), 'seen', p_expires_at => clock_timestamp() + interval '30 minutes');
end
$$;
comment on function billing.look(text, text, text, integer) is 'Enqueues a question to Stripe. Nullable: p_workspace_id, p_number.';

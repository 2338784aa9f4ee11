-- Whose limits an action of a wizard's visitor counts against: those of the network that the call comes from, so that a flood costs only
-- its sender. If the network is unknown, drafts are spread at random over shares with their own limits: a flood then takes from others only
-- what it takes from all shares. Hashed with the workspace's key, so that no readable network address is kept.
create or replace function billing.spender(p_workspace_id text, p_draft_id uuid) returns bytea
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_random constant bytea := uuid_send(p_draft_id);
begin
  return headroom.hmac_sha256(capacity.marking_key(p_workspace_id), convert_to(coalesce(
    'network:' || headroom.client_network()::text,
    'share:' || (get_byte(v_random, 0) * 256 + get_byte(v_random, 1)) % 1024), 'UTF8'));
end
$$;
comment on function billing.spender(text, uuid) is 'Whose limits a visitor''s actions count against.';

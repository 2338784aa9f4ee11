-- Whose limits what a visitor of the wizard does counts against: those of the network that they call from, so that a flood costs only
-- whoever makes it. Where nobody can say which network that is, drafts are spread by chance over shares with limits of their own: a flood
-- then takes from the others only what it takes from all shares. Hashed with the workspace's key: no network that could be read is kept.
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
comment on function billing.spender(text, uuid) is 'Whose limits what a visitor does counts against.';

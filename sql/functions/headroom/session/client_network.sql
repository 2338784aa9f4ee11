-- The network that the call comes from, as our own gateway saw it: an IPv4 address, or the first half of an IPv6 one. Null if it is not
-- known: over PostgREST, which passes on what callers write into their headers, in sessions whose author could have set it, and behind a
-- proxy that the gateway is not configured for, as an address of a private network shows.
create or replace function headroom.client_network() returns inet
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_network inet;
begin
  if session_user in ('authenticator', 'headroom_gateway') then
    v_network := nullif(current_setting('headroom.client_network', true), '')::inet;
  end if;
  return case when not v_network <<= any ('{10.0.0.0/8,100.64.0.0/10,127.0.0.0/8,169.254.0.0/16,172.16.0.0/12,192.168.0.0/16,
                                            ::/64,fc00::/7,fe80::/10}'::inet[]) then v_network end;
exception when data_exception then
  return null;
end
$$;
comment on function headroom.client_network() is 'The network that our gateway says a call comes from. Nullable: result.';

-- Refuses a URL that no relay would call, when it is set. The check that binds is the relay's, when it dials, over every address that the
-- name has then. The name is not resolved here, because its current addresses prove nothing.
--
-- p_allow_private is an operator's permission for http and private addresses, as in a sandbox; a relay must allow them as well. Messages
-- quote neither path nor query, which may contain a token.
create or replace function webhooks.check_endpoint_url(p_url text, p_allow_private boolean) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_parts text[] := regexp_match(p_url, '^(https?)://([^/?]*)([/?].*)?$', 'i');
  v_host text := lower(rtrim(substring(v_parts[2] from '^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?$'), '.') collate "C");
  v_address inet;
  v_wrong text;
begin
  v_wrong := case
    when p_url is null or length(p_url) not between 1 and 2048 then 'it must have 1 to 2048 characters'
    when p_url !~ '^[\x21-\x7e]+$' or p_url ~ '[\\#]' then 'it must have only printable ASCII, no backslash and no fragment'
    when v_parts is null then 'it must begin with https:// and a host'
    when position('@' in v_parts[2]) > 0 then 'it must not contain credentials'
    when v_host is null or v_host = '' then 'its host cannot be read'
    when p_allow_private then null
    when lower(v_parts[1] collate "C") <> 'https' then 'it must be https'
    when v_host !~ '[.:]' or v_host ~ '(^|\.)(localhost|local|internal|home\.arpa)$' then 'its host is a name of a private network'
  end;
  -- Clients read any name that ends in a number as an IPv4 address, in odd notations too; only the plain one is accepted here.
  if v_wrong is null and not p_allow_private and (v_host ~ '^\[' or v_host ~ '(^|\.)(0x[0-9a-f]*|[0-9]+)$') then
    begin
      v_address := case when v_host ~ '^\[' then trim(v_host, '[]')
                        when v_host ~ '^(0|[1-9][0-9]{0,2})(\.(0|[1-9][0-9]{0,2})){3}$' then v_host end::inet;
    exception when data_exception then
      v_address := null;
    end;
    if v_address is null then
      v_wrong := 'its address cannot be read';
    elsif family(v_address) = 4 and v_address <<= any ('{
            0.0.0.0/8,10.0.0.0/8,100.64.0.0/10,127.0.0.0/8,168.63.129.16/32,169.254.0.0/16,172.16.0.0/12,
            192.0.0.0/24,192.0.2.0/24,192.88.99.0/24,192.168.0.0/16,198.18.0.0/15,198.51.100.0/24,203.0.113.0/24,224.0.0.0/3}'::inet[])
       or family(v_address) = 6 and (not v_address <<= '2000::/3'
                                     or v_address <<= any ('{2001::/23,2001:db8::/32,2002::/16,3fff::/20}'::inet[])) then
      v_wrong := 'its address is not a public one';
    end if;
  end if;
  if v_wrong is not null then
    perform headroom.fail('invalid_input', 'The URL of the endpoint is not acceptable.', v_wrong,
      'Give an https URL with a public host. For a sandbox an operator allows others: headroom endpoint add --allow-private, '
      'and relays with --allow-http and --allow-private. Nothing was changed.');
  end if;
end
$$;
comment on function webhooks.check_endpoint_url(text, boolean) is 'Refuses a URL that webhooks may not be sent to.';

-- When an incoming request was signed, and with which signatures, according to its headers. Refuses unsigned or malformed requests, and
-- ones signed too long ago or too large, before anything is locked or any secret is read. The gate before every request calls it without a
-- body, and each receiver calls it again: so no path, header or server leads to a less strict receiver.
--
-- GitHub and Postal sign no time; Linear has one in the body.
create or replace function inbound.require_stamp(p_receiver text, p_bytes integer, out signed_at text, out signatures text[])
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_headers jsonb := headroom.request_headers();
  v_rule record;
  v_header text;
  v_problem text;
begin
  select r.* into strict v_rule from (values
    ('github', 'x-hub-signature-256', '^sha256=([0-9a-f]{64})$', null, null, 1048576),
    ('linear', 'linear-signature', '^([0-9a-f]{64})$', null, null, 1048576),
    ('postal', 'x-postal-signature-256', '^([A-Za-z0-9+/]{40,}={0,2})$', null, null, 1048576),
    ('provisioning', 'x-headroom-signature', '^v1=([0-9a-f]{64})$', 'x-headroom-timestamp', '^([0-9]{1,12})$', 16384),
    ('slack', 'x-slack-signature', '^v0=([0-9a-f]{64})$', 'x-slack-request-timestamp', '^([0-9]{1,12})$', 1048576),
    ('stripe', 'stripe-signature', '(?:^|,)v1=([0-9a-f]{64})(?=,|$)', 'stripe-signature', '(?:^|,)t=([0-9]{1,12})(?:,|$)', 262144))
    r(receiver, header, signature_form, time_header, time_form, max_bytes) where r.receiver = p_receiver;
  if p_bytes > v_rule.max_bytes then
    perform headroom.fail('payload_too_large', format('At most %s bytes are accepted here.', v_rule.max_bytes), null,
                          'Nothing was written.');
  end if;
  v_header := v_headers ->> v_rule.header;
  if length(v_header) <= 2048 then
    signed_at := substring(v_headers ->> v_rule.time_header from v_rule.time_form);
    signatures := array(select m[1] from regexp_matches(v_header, v_rule.signature_form, 'g') m);
  end if;
  v_problem := case
    when v_header is null or v_rule.time_header is not null and not v_headers ? v_rule.time_header then 'The request is not signed.'
    when coalesce(signatures, '{}') = '{}' or v_rule.time_header is not null and signed_at is null
      then 'The signature of the request is malformed.'
    when abs(extract(epoch from clock_timestamp()) - signed_at::bigint) > 300
      then 'The request was signed too long ago, or by a clock that is wrong.' end;
  if v_problem is not null then
    perform headroom.fail('bad_signature', v_problem, null,
                          'Send the request with the signature headers that its sender made. Nothing was written.');
  end if;
end
$$;
comment on function inbound.require_stamp(text, integer)
  is 'When a request to a receiver was signed, and how; refuses what its headers alone disprove. Nullable: p_bytes, result.';

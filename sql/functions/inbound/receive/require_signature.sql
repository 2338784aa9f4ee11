-- Refuses a body that its provider did not sign: an HMAC over exactly these bytes, and for Slack and Stripe also over the time.
create or replace function inbound.require_signature(p_receiver text, p_body text) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_stamp record := inbound.require_stamp(p_receiver, octet_length(p_body));
  v_secret text := case p_receiver when 'slack' then 'SLACK_SIGNING_SECRET' else upper(p_receiver) || '_WEBHOOK_SECRET' end;
  v_data bytea := convert_to(case p_receiver when 'slack' then 'v0:' || v_stamp.signed_at || ':'
                                             when 'stripe' then v_stamp.signed_at || '.' else '' end || p_body, 'UTF8');
  v_one text;
begin
  -- Stripe sends a signature for each secret that is being replaced; more than five are not genuine.
  foreach v_one in array v_stamp.signatures[1:5] loop
    if inbound.signed_by(v_secret, v_data, decode(v_one, 'hex')) then
      return;
    end if;
  end loop;
  perform headroom.fail('bad_signature', 'The signature of the request is wrong.', null,
                        'Send the body exactly as it came, with its signature headers. Nothing was written.');
end
$$;
comment on function inbound.require_signature(text, text) is 'Refuses a body that the provider did not sign. Nullable: p_body.';

-- Whether Stripe signed exactly these bytes: one of the signatures is right, under the secret or the one before it.
create or replace function inbound.verify_stripe_signature(p_body text, p_signature text) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_data bytea;
  v_one text;
begin
  if p_body is null or inbound.stripe_stamp_problem(p_signature) is not null then
    return false;
  end if;
  v_data := convert_to(substring(p_signature from '(?:^|,)t=([0-9]{1,12})(?:,|$)') || '.' || p_body, 'UTF8');
  -- Stripe sends one for each secret that is being replaced; more are nobody's.
  for v_one in select m[1] from regexp_matches(p_signature, '(?:^|,)v1=([0-9a-f]{64})(?=,|$)', 'g') m limit 5 loop
    if inbound.signed_by('STRIPE_WEBHOOK_SECRET', v_data, decode(v_one, 'hex')) then
      return true;
    end if;
  end loop;
  return false;
end
$$;
comment on function inbound.verify_stripe_signature(text, text)
  is 'Whether Stripe''s signature over this body is right. Nullable: p_signature.';

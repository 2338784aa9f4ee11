-- An issuer is compared letter for letter with what a token says, so it is stored only if it is a possible issuer.
create or replace function directory.check_issuer(p_issuer text) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_issuer is null or p_issuer !~ '^https?://[^\s?#]+$' or length(p_issuer) > 500 then
    perform headroom.fail('invalid_input', 'The issuer is the address of an identity provider.', left(p_issuer, 80),
      'Write it exactly as the provider''s discovery document does, such as https://accounts.example.org');
  end if;
end
$$;
comment on function directory.check_issuer(text) is 'Raises invalid_input unless this can be an issuer.';

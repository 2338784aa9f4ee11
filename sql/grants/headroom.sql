-- Grants of the schema `headroom`: everything is revoked first, then exactly this is granted. Only the owner writes
-- tables: the definer functions are the only way in. Functions that are not named here are internal and run only inside those.
select headroom.close_schema('headroom');

-- Functions that are made later are not for everybody either.
alter default privileges revoke all on functions from public;

-- Control stores secrets, which it cannot read back, and changes the key that they are sealed under.
grant usage on schema headroom to headroom_control;
grant execute on function
  headroom.set_secret(text, text, boolean),
  headroom.remove_secret(text, boolean),
  headroom.list_secrets(),
  headroom.switch_sealing_key(),
  headroom.reseal_secrets(text, integer, boolean)
to headroom_control;

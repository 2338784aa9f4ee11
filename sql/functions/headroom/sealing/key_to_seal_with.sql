-- The key under which secrets are sealed now: the one in use in this database, even if the process calls it the previous one. So a process
-- that already has the next key still seals so that the others, which have only the old one, can read it; `headroom keys rotate` changes
-- the key in use for all processes together. A process that does not hold the key in use is refused, because nobody else could read what it
-- seals.
--
-- The lock keeps the key in use until this transaction ends: a rotation finds everything that was sealed under the previous key.
create or replace function headroom.key_to_seal_with() returns text
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_current text := headroom.current_key();
  v_previous text := nullif(current_setting('headroom.secret_key_previous', true), '');
  v_id bytea;
begin
  select k.key_id into v_id from headroom.sealing_key k for share;
  if not found then
    -- The first secret here, or the first since boxes name their key: an existing box shows which key is in use.
    select headroom.key_id(coalesce(headroom.key_of_box(b.name, b.box), '')) into v_id
      from (select * from headroom.boxes where box is not null limit 1) b;
    if v_id is null or v_id <> headroom.key_id('') then
      insert into headroom.sealing_key (key_id) values (coalesce(v_id, headroom.key_id(v_current))) on conflict do nothing;
      select k.key_id into v_id from headroom.sealing_key k for share;
    end if;
  end if;
  if v_id = headroom.key_id(v_current) then
    return v_current;
  elsif v_id = headroom.key_id(v_previous) then
    return v_previous;
  end if;
  perform headroom.fail('not_configured', 'Secrets here are sealed under a key that this process does not have. Nothing was stored.',
    'neither HEADROOM_SECRET_KEY nor HEADROOM_SECRET_KEY_PREVIOUS is the key in use',
    'Give this process the HEADROOM_SECRET_KEY that the others have. To change the key: headroom keys rotate');
end
$$;
comment on function headroom.key_to_seal_with() is 'The key that is in use, if this process holds it; refuses otherwise.';

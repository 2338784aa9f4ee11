-- Walks over all sealed secrets, p_most at a time after p_after (null: from the beginning), and seals again under the caller's current key
-- those that are sealed under another one; without p_write it only checks. Each call is its own transaction and leaves nothing half done,
-- so a walk can stop anywhere and start again. A secret that neither of the caller's keys opens is named and left as it is.
--
-- seen: how many are sealed; due: how many of them not under the current key; in_vault: how many are in Vault instead; after: where to
-- continue, null at the end.
create or replace function headroom.reseal_secrets(
  p_after text, p_most integer, p_write boolean,
  out seen integer, out due integer, out unreadable text[], out in_vault integer, out after text
)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_target bytea := headroom.key_id(headroom.current_key());
  v_max integer := least(greatest(coalesce(p_most, 100), 1), 10000);
  v_row headroom.boxes;
  v_value text;
begin
  seen := 0; due := 0; unreadable := '{}'; in_vault := 0;
  if p_write and not exists (select from headroom.sealing_key k where k.key_id = v_target) then
    perform headroom.fail('conflict', 'Another key is in use now.', null, 'Nothing was changed. Run one rotation at a time.');
  end if;
  for v_row in
    select * from headroom.boxes b where b.name > coalesce(p_after, '') collate "C" order by b.name collate "C" limit v_max
  loop
    after := v_row.name;
    if p_write then
      -- Read again under its lock: another session may have replaced or removed it since.
      select * into v_row from headroom.boxes b where b.name = v_row.name for update;
      continue when not found;
    end if;
    if v_row.box is null then
      -- headroom.list_secrets() lists named secrets, including those that a person put into Vault by hand.
      in_vault := in_vault + (v_row.name !~ '^[A-Z][A-Z0-9_]{0,62}$')::integer;
      continue;
    end if;
    seen := seen + 1;
    v_value := headroom.open_secret(v_row.name, v_row.box);
    if v_value is null then
      unreadable := unreadable || coalesce(v_row.label, v_row.name);
    elsif get_byte(v_row.box, 0) <> 2 or substr(v_row.box, 2, 8) <> v_target then
      due := due + 1;
      if p_write then
        update headroom.boxes b set box = headroom.seal_secret(v_row.name, v_value) where b.name = v_row.name;
      end if;
    end if;
  end loop;
end
$$;
comment on function headroom.reseal_secrets(text, integer, boolean) is
  'Seals a batch of secrets again under the current key, or only counts them. Nullable: after.';

-- Walks over everything that is sealed, p_most at a time from p_after on (null: from the beginning), and seals again under the caller's
-- current key what another one has sealed; without p_write it only looks. Each call is a transaction of its own and leaves nothing half
-- done, so a walk can end anywhere and begin anew. What neither of the caller's keys opens is named and left as it is.
--
-- seen: how many are sealed; due: how many of them not under the current key; in_vault: how many Vault keeps instead; after: where to go
-- on, null at the end.
create or replace function capacity.reseal_secrets(
  p_after text, p_most integer, p_write boolean,
  out seen integer, out due integer, out unreadable text[], out in_vault integer, out after text
)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_target bytea := capacity.key_id(capacity.current_key());
  v_most integer := least(greatest(coalesce(p_most, 100), 1), 10000);
  v_row record;
  v_name text;
  v_box bytea;
  v_value text;
begin
  seen := 0; due := 0; unreadable := '{}'; in_vault := 0;
  if p_write and not exists (select from capacity.sealing_key k where k.key_id = v_target) then
    perform capacity.fail('conflict', 'Another key is in use by now.', null, 'Nothing was changed. Run one rotation at a time.');
  end if;
  for v_row in
    select b.* from (
      (select 'a ' || s.name as at, s.name, null::uuid as secret_id, s.name as label, s.encrypted as box
         from capacity.secrets s
        where 'a ' || s.name > coalesce(p_after, '') collate "C" order by s.name collate "C" limit v_most)
      union all
      (select 'b ' || s.secret_id, null, s.secret_id,
              format('endpoint %s%s (%s)', e.name, ' of workspace ' || e.workspace_id, s.kind), s.box
         from outbox.endpoint_secrets s join outbox.endpoints e on e.id = s.endpoint_id
        where s.secret_id > case when p_after like 'b %' then substr(p_after, 3)::uuid else '00000000-0000-0000-0000-000000000000' end
        order by s.secret_id limit v_most)) b
     order by b.at collate "C" limit v_most
  loop
    after := v_row.at;
    v_box := v_row.box;
    if p_write then
      -- Again, under its lock: somebody may have replaced or removed it since.
      if v_row.secret_id is null then
        select s.encrypted into v_box from capacity.secrets s where s.name = v_row.name for update;
      else
        select s.box into v_box from outbox.endpoint_secrets s where s.secret_id = v_row.secret_id for update;
      end if;
      continue when not found;
    end if;
    if v_box is null then
      in_vault := in_vault + 1;
      continue;
    end if;
    seen := seen + 1;
    v_name := coalesce(v_row.name, 'headroom endpoint ' || v_row.secret_id);
    v_value := capacity.open_secret(v_name, v_box);
    if v_value is null then
      unreadable := unreadable || v_row.label;
    elsif get_byte(v_box, 0) <> 2 or substr(v_box, 2, 8) <> v_target then
      due := due + 1;
      if p_write and v_row.secret_id is null then
        update capacity.secrets s set encrypted = capacity.seal_secret(v_name, v_value) where s.name = v_row.name;
      elsif p_write then
        update outbox.endpoint_secrets s set box = capacity.seal_secret(v_name, v_value) where s.secret_id = v_row.secret_id;
      end if;
    end if;
  end loop;
end
$$;
comment on function capacity.reseal_secrets(text, integer, boolean) is
  'Seals a batch of secrets again under the current key, or looks what there is. Nullable: after.';

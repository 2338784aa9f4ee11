-- Erases messages that are marked for erasure: waiting ones are given up first, ones that are being sent are left for the next time.
-- Returns how many were erased.
create or replace function notify.erase_messages(p_most integer) returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids uuid[] := array(select d.outbox_id from notify.deliveries d where d.to_erase order by d.id limit least(p_most, 10000)
                           for update skip locked);
  v_id uuid;
  v_erased integer := 0;
begin
  if cardinality(v_ids) = 0 then
    return 0;
  end if;
  perform from outbox.skip(v_ids, 'notify', 'the recipient''s data is erased');
  foreach v_id in array v_ids loop
    -- The payload may have been collected with its archive.
    if not exists (select from outbox.rows m where m.outbox_id = v_id)
       or outbox.erase_finished(v_id, 'notify', 'the recipient''s data is erased') then
      update notify.deliveries d set to_erase = false, outcome_said = null where d.outbox_id = v_id;
      v_erased := v_erased + 1;
    end if;
  end loop;
  return v_erased;
end
$$;
comment on function notify.erase_messages(integer) is 'Erases messages that are marked for erasure; how many.';

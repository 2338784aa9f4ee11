-- Secrets for a process that calls providers with them, for the one function that may say which secrets these are: the values, and a note
-- of who was given them. Only secrets that were stored through headroom.set_secret() are found: Vault may hold others of those names that
-- are not ours. A value that this session cannot open is null.
create or replace function headroom.hand_out_secrets(p_names text[]) returns table (name text, value text)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_name text;
  v_value text;
begin
  for v_name in select b.name from headroom.boxes b where b.name = any (p_names) order by b.name loop
    v_value := headroom.open_box(v_name);
    if v_value is not null then
      insert into headroom.handed_out as h (login, name) values (session_user, v_name)
      on conflict (login, name) do update set last_at = now(), times = h.times + 1;
    end if;
    return query select v_name, v_value;
  end loop;
end
$$;
comment on function headroom.hand_out_secrets(text[]) is 'Stored secrets, noted as handed out. Nullable: value.';

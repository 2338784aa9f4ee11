-- Forgets sealed secrets of these names, and returns the names that are in Vault instead: the caller overwrites them there
-- (headroom.forget_in_vault), and decides what to do if Vault fails to.
create or replace function headroom.drop_boxes(p_names text[]) returns text[]
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_sealed text[];
begin
  with gone as (
    delete from headroom.boxes b where b.name = any (p_names) returning b.name, b.box
  )
  select array_agg(g.name) filter (where g.box is not null) into v_sealed from gone g;
  return array(select n from unnest(p_names) n where n <> all (coalesce(v_sealed, '{}')));
end
$$;
comment on function headroom.drop_boxes(text[]) is 'Forgets sealed secrets; returns the names that are in Vault.';

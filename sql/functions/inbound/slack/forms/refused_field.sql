-- The field of a form at which a refusal is shown. A form with one field has no choice. In the form for a new request the refusal names
-- the term at the beginning of its facts (`region: …`), so that no sentence has to be parsed. A refusal without a term is
-- shown at the first field. Pure.
create or replace function inbound.refused_field(p_callback text, p_facts text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(
    '{"capacity_reason": "reason", "capacity_note": "note", "capacity_link": "email"}'::jsonb ->> p_callback,
    (select n.key from jsonb_each_text(inbound.term_names()) n where n.value = substring(p_facts from '^([a-z_]+):')),
    'size');
end
$$;
comment on function inbound.refused_field(text, text) is 'The field of a form under which a refusal is shown. Nullable: p_facts.';

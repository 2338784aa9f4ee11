-- The values of one step as they are kept, and what is wrong with each, as {field: words}.
create or replace function billing.check_step(
  p_workspace_id text, p_step integer, p_terms jsonb, p_values jsonb, out terms jsonb, out problems jsonb
)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_checked record;
begin
  if p_step = 1 then
    v_checked := billing.check_capacity(p_workspace_id, p_values);
  elsif p_step = 2 then
    v_checked := billing.check_time(p_workspace_id, p_terms, p_values);
  else
    v_checked := billing.check_person(p_values);
  end if;
  terms := v_checked.terms;
  problems := v_checked.problems;
end
$$;
comment on function billing.check_step(text, integer, jsonb, jsonb) is 'The values of a step of the wizard, and what is wrong with them.';

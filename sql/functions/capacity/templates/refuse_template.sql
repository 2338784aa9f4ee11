-- Refuses a template that check_template() finds wrong.
create or replace function capacity.refuse_template(p_workspace_id text, p_name text, p_title text, p_body text) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem text := capacity.check_template(p_workspace_id, p_name, p_title, p_body);
begin
  if v_problem is not null then
    perform headroom.fail('invalid_input', format('The %s of the template is not acceptable.', split_part(v_problem, ':', 1)), v_problem,
                          'headroom notifications templates show ' || p_name || ' lists its variables. Nothing was changed.');
  end if;
end
$$;
comment on function capacity.refuse_template(text, text, text, text)
  is 'Refuses a template that is wrong. Nullable: p_title, p_body.';

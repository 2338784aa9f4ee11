-- What is wrong with a template, as "title: what" or "body: what", or null: it does not parse, it renders to nothing or is cut in one of
-- the samples, or it lacks a required variable.
create or replace function capacity.check_template(p_workspace_id text, p_name text, p_title text, p_body text) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_variables text[] := array(select v.variable from capacity.template_variables() v where p_name = any (v.templates));
  v_problem text := coalesce(
    'title: ' || case when p_title like E'%\n%' then 'it must be one line' else notify.template_problem(p_title, 300, v_variables) end,
    'body: ' || notify.template_problem(p_body, 10000, v_variables));
  v_sample record;
  v_title text;
  v_body text;
begin
  if v_problem is not null then
    return v_problem;
  end if;
  for v_sample in select s.sample, s.vals from capacity.template_samples(p_workspace_id, p_name) s loop
    v_title := notify.fill(p_title, v_sample.vals, 20000);
    v_body := notify.fill(p_body, v_sample.vals, 20000);
    v_problem := case
      when notify.is_blank(v_title) then 'title: it is empty'
      when notify.is_blank(v_body) then 'body: it is empty'
      when length(v_title) > 200 then format('title: it has %s characters, and is cut after 200', length(v_title))
      when length(v_body) > 20000 then format('body: it has %s characters, and is cut after 20000', length(v_body))
      else (select format('body: {{%s}} is required, and is missing', min(v.variable))
              from capacity.template_variables() v
             where p_name = any (v.required) and v_sample.vals ->> v.variable <> ''
               and strpos(v_title || E'\n' || v_body, v_sample.vals ->> v.variable) = 0
            having count(*) > 0) end;
    if v_problem is not null then
      return format('%s, for the sample "%s"', v_problem, v_sample.sample);
    end if;
  end loop;
  return null;
end
$$;
comment on function capacity.check_template(text, text, text, text)
  is 'What is wrong with a template. Nullable: p_title, p_body, result.';

-- The samples that a template is checked with: the values, and the customer's link if the message has one. The last sample has as little as
-- possible, to show where a template depends on optional values. A cause that is a notice comes before events, of which few read like one.
create or replace function capacity.template_samples(p_workspace_id text, p_name text)
returns table (sample text, vals jsonb, link jsonb)
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_cause text := (select t.cause from capacity.tells t where t.template = p_name
                    order by t.cause = upper(t.cause collate "C"), t.place limit 1);
begin
  if v_cause is null then
    return query select s.sample, s.vals, null::jsonb from notify.template_samples() s where s.name = p_name;
    return;
  end if;
  return query
  select s.sample, capacity.problem_values(s.facts), null::jsonb from capacity.sample_problems() s where s.template = p_name;
  if found then
    return;
  end if;
  return query
  select s.sample, capacity.tell_values(c.story, p_name, 'commercial'), capacity.tell_link(c.story, p_name)
    from (values (1, 'with a price'), (2, 'without a price, and with words of somebody'), (3, 'with little known')) s(n, sample)
   cross join lateral (select capacity.sample_story(p_workspace_id, v_cause, s.n)
                        || case p_name when 'escalated' then '{"counts": false}'::jsonb else '{}' end as story) c
   order by s.n;
end
$$;
comment on function capacity.template_samples(text, text) is 'The samples that a template is checked with. Nullable: link.';

-- The current description of a request's issue. It leaves out the customer: text in another company's system cannot be
-- erased from here. It has the justification for those who decide in Linear; an update after an erasure removes it.
create or replace function capacity.linear_description(p_story jsonb) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return concat_ws(E'\n',
    '- **State:** ' || capacity.story_state(p_story ->> 'state'),
    '- **Asked for:** ' || capacity.linear_text(p_story ->> 'what', 300),
    '- **Requester:** ' || capacity.linear_text(capacity.story_name(p_story, p_story ->> 'requester'), 300),
    '- **Needed by:** ' || capacity.linear_text(p_story ->> 'needed_by', 50),
    '- **For:** ' || capacity.linear_text(p_story ->> 'duration_days', 50) || ' days',
    coalesce('- **Price:** ' || capacity.linear_text(capacity.story_price(p_story), 100),
             '- **Estimated cost:** ' || capacity.linear_text(capacity.render_money(p_story -> 'monthly_cost'), 100) || ' a month'),
    '- **Commercial review:** ' || capacity.linear_step(p_story, 'commercial'),
    '- **Technical review:** ' || capacity.linear_step(p_story, 'technical'),
    '- **Customer answers by:** ' || capacity.render_time(p_story -> 'deadline'),
    '- **Provisioning:** ' || capacity.linear_text(p_story #>> '{job,words}', 100),
    E'\n**Why it is needed:**\n\n> ' || replace(capacity.linear_text(p_story ->> 'justification', 4000), E'\n', E'\n> '));
end
$$;
comment on function capacity.linear_description(jsonb) is 'The description of a request''s issue, in Markdown.';

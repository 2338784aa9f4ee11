-- The state of one review, in a few words of Markdown.
create or replace function capacity.linear_step(p_story jsonb, p_step text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_step jsonb := p_story -> p_step;
begin
  return case
    when jsonb_typeof(v_step -> 'at') = 'number' then
      case when v_step -> 'auto' = 'true' then 'approved by a rule'
           else 'approved by ' || capacity.linear_text(capacity.story_name(p_story, v_step ->> 'by'), 300) end
    when jsonb_typeof(v_step -> 'endorsed_by') = 'string' then
      'endorsed by ' || capacity.linear_text(capacity.story_name(p_story, v_step ->> 'endorsed_by'), 300) || ', not approved'
    else 'not approved' end;
end
$$;
comment on function capacity.linear_step(jsonb, text) is 'One review of a request in words, for Linear.';

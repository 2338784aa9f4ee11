-- The state of one review, as a line of the root message: who decided when, or who is asked.
create or replace function capacity.slack_step(p_story jsonb, p_step text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_step jsonb := p_story -> p_step;
  v_title text := case p_step when 'commercial' then '*Commercial review*: ' else '*Technical review*: ' end;
  v_endorsed text;
begin
  if v_step ->> 'endorsed_by' is not null then
    v_endorsed := 'endorsed by ' || notify.slack_text(capacity.story_name(p_story, v_step ->> 'endorsed_by'), 200);
  end if;
  if jsonb_typeof(v_step -> 'at') = 'number' then
    return concat(':white_check_mark: ', v_title, case when v_step -> 'auto' = 'true' then 'approved by a rule'
      else concat_ws('; ', v_endorsed, 'approved by ' || notify.slack_text(
        coalesce(p_story #>> array['people', v_step ->> 'by', 'name'], v_step ->> 'by', 'somebody'), 200)) end,
      ', ' || capacity.slack_time(v_step -> 'at'));
  elsif p_story ->> 'state' in ('SUBMITTED', 'UNDER_REVIEW') then
    return concat(':hourglass_flowing_sand: ', v_title, case when v_step -> 'auto' = 'true' then 'decided by a rule'
      else concat_ws('; ', v_endorsed, coalesce('waiting for ' || capacity.slack_mentions(p_story, v_step -> 'asked'),
                                                'waiting for a reviewer')) end);
  elsif p_story ->> 'event' = (case p_step when 'commercial' then 'COMMERCIAL_REJECTED' else 'TECH_REVIEW_REJECTED' end) then
    return concat(':x: ', v_title, concat_ws('; ', v_endorsed,
                                             'rejected by ' || notify.slack_text(capacity.story_name(p_story, p_story ->> 'actor'),
                                                                                   200)));
  end if;
  return concat(':heavy_minus_sign: ', v_title, coalesce(v_endorsed, 'not decided'));
end
$$;
comment on function capacity.slack_step(jsonb, text) is 'One review of a request as a line of Slack markup.';

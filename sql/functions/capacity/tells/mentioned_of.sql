-- Which of these people the request's thread notifies: those whom Slack knows and the message mentions. People who are
-- no longer asked see it in the message that asked them.
create or replace function capacity.mentioned_of(p_story jsonb, p_audience text, p_member_ids text[]) returns text[]
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_mentions jsonb := case
    when p_audience = 'no_longer_asked' then to_jsonb(p_member_ids)
    -- The root message names at most ten for each step.
    when p_story ->> 'event' = 'REQUEST_SUBMITTED'
    then jsonb_path_query_array(jsonb_path_query_array(p_story -> 'asked', '$[*] ? (@.step == "commercial").id'), '$[0 to 9]')
      || jsonb_path_query_array(jsonb_path_query_array(p_story -> 'asked', '$[*] ? (@.step == "technical").id'), '$[0 to 9]')
    else p_story -> 'next' end;
begin
  return array(select m.id from directory.members m
                where m.workspace_id = p_story ->> 'workspace' and m.id = any (p_member_ids) and m.slack_user_id is not null
                  and v_mentions ? m.id);
end
$$;
comment on function capacity.mentioned_of(jsonb, text, text[]) is 'Which of these people a thread notifies.';

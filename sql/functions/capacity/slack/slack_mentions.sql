-- People by mention where Slack knows them, else by name. At most ten, because a longer list pings a crowd.
create or replace function capacity.slack_mentions(p_story jsonb, p_ids jsonb) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_mentions text;
  v_slack text;
  v_id text;
begin
  if p_ids = '[]' or jsonb_typeof(p_ids) is distinct from 'array' then
    return null;
  end if;
  for i in 0..least(jsonb_array_length(p_ids), 10) - 1 loop
    v_id := p_ids ->> i;
    continue when v_id is null;
    v_slack := p_story #>> array['people', v_id, 'slack'];
    v_mentions := concat_ws(', ', v_mentions, case when v_slack ~ '^[UW][A-Z0-9]{2,31}$' then '<@' || v_slack || '>'
                                                   else notify.slack_text(capacity.story_name(p_story, v_id), 100) end);
  end loop;
  return v_mentions;
end
$$;
comment on function capacity.slack_mentions(jsonb, jsonb) is 'Mentions of members, separated by commas. Nullable: result.';

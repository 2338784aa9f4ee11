-- Which of these people the message in their group's channel notifies: all who are asked for the technical review; where a notice
-- addresses several steps, those who are asked for the technical review alone.
create or replace function capacity.reached_in_channel(p_story jsonb, p_step text, p_member_ids text[]) returns text[]
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_step = 'technical' then
    return p_member_ids;
  end if;
  return array(select a ->> 'id' from jsonb_array_elements(p_story -> 'asked') a where a ->> 'id' = any (p_member_ids)
                group by 1 having bool_and(a ->> 'step' = 'technical'));
end
$$;
comment on function capacity.reached_in_channel(jsonb, text, text[])
  is 'The people whom a message in their group''s channel notifies. Nullable: p_step.';

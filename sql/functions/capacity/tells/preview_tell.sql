-- The message of a channel for a line of capacity.tells and a story, without sending anything. For tests.
create or replace function capacity.preview_tell(
  p_story jsonb, p_template text, p_channel text, p_step text default 'commercial', p_address text default 'somebody@example.org'
) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_text record := notify.told_text(
    p_story ->> 'workspace', p_template, capacity.tell_values(p_story, p_template, p_step));
begin
  return notify.preview(p_story ->> 'workspace', v_text.title, v_text.body, capacity.tell_link(p_story, p_template), p_channel, p_address,
                        p_story ->> 'customer');
end
$$;
comment on function capacity.preview_tell(jsonb, text, text, text, text) is 'What a message would say.';

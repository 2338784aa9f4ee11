-- A notice to a colleague whom no thread reaches.
create or replace function capacity.render_email_notice(p_story jsonb, p_member_id text) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return capacity.email_letter(
    p_story #>> array['addresses', p_member_id],
    capacity.story_sentence(p_story) || ' (' || (p_story ->> 'id') || ')',
    array[
      'Hello ' || capacity.email_text(capacity.story_name(p_story, p_member_id), 200) || ',',
      capacity.email_text(capacity.story_sentence(p_story), 1000),
      capacity.email_facts(p_story),
      capacity.email_text(p_story ->> 'workspace_name', 200)]);
end
$$;
comment on function capacity.render_email_notice(jsonb, text) is 'The payload of a mail to a member about a request.';

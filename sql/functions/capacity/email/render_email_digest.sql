-- A reminder to one person, by mail.
create or replace function capacity.render_email_digest(p_story jsonb) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_lines text[] := capacity.story_digest(p_story);
begin
  return capacity.email_letter(
    p_story ->> 'email',
    case when cardinality(v_lines) = 1 then 'A review is waiting for you' else 'Reviews are waiting for you' end,
    array[
      'Hello ' || capacity.email_text(capacity.story_name(p_story, p_story ->> 'member'), 200) || ',',
      'your decision is needed:',
      regexp_replace(array_to_string(v_lines, E'\n'), '\{(?=\{)', '{ ', 'g'),
      capacity.email_text(p_story ->> 'workspace_name', 200)]);
end
$$;
comment on function capacity.render_email_digest(jsonb) is 'The payload of a reminder by mail.';

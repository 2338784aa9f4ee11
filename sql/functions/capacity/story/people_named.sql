-- The names of members in messages, by their ids.
create or replace function capacity.people_named(p_workspace_id text, p_member_ids text[]) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_object_agg(m.id, jsonb_build_object('name', m.display_name, 'slack', m.slack_user_id)), '{}')
    from directory.members m where m.workspace_id = p_workspace_id and m.id = any (p_member_ids);
$$;
comment on function capacity.people_named(text, text[]) is 'Names and Slack ids of members, by id.';

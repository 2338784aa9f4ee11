-- Hook of directory.member_joining: while a reviewer has no Slack user in the directory, the new member may be that reviewer, and could
-- review their own requests under the other name. So the reviewer must be linked first. The refusal names no reviewer: the caller is
-- unknown.
create or replace function capacity.check_joining(p_joining jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from capacity.unlinked_reviewers(p_joining ->> 'workspace_id')) then
    perform headroom.fail('not_allowed',
      'You are not in the directory of this workspace, and Headroom cannot tell whether you are one of its reviewers.', null,
      format('Ask an admin to link your Slack user: headroom members put <your member id> --slack %s. Nothing was changed.',
             p_joining ->> 'slack_user_id'));
  end if;
  return null;
end
$$;
comment on function capacity.check_joining(jsonb) is 'Refuses a new member who may be a reviewer. Nullable: result.';

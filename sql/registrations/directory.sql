-- What the directory answers to layers below, and the points where layers above may add functions.
select headroom.declare_hooks('directory', '{
  "directory.group_removed": "A group is about to be removed: {workspace_id, group_id}. Whoever still needs it refuses.",
  "directory.member_joining": "Slack user {slack_user_id} becomes a member of {workspace_id}. Who cannot tell them from another refuses.",
  "directory.account_given": "An account of {workspace_id, member_id} is given to another. Who would take one person for two refuses.",
  "directory.member_removed": "A member was removed: {workspace_id, member_id, slack_user_id}. Answers what waited on them.",
  "directory.member_returned": "A removed member comes back: {workspace_id, member_id}. Whoever would give them old rights refuses."
}');
select headroom.register_hooks('directory', '{"webhooks.tenant_named": "directory.check_tenant"}');

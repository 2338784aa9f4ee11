-- The channels by which a recipient is told, each once: `direct` becomes Slack for a member whom Slack knows or who has a webhook there,
-- and mail for everybody else.
create or replace function notify.channels_for(p_workspace_id text, p_recipient_kind text, p_recipient text, p_channels text[])
returns text[]
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select coalesce(array_agg(distinct case when c <> 'direct' then c when s.known then 'slack' else 'email' end), '{}')
    from unnest(p_channels) c
   cross join (select p_recipient_kind = 'member' and exists (
                        select from directory.members m
                          left join notify.people p on p.workspace_id = m.workspace_id and p.member_id = m.id
                         where m.workspace_id = p_workspace_id and m.id = p_recipient
                           and (m.slack_user_id is not null or p.slack_webhook)) as known) s;
$$;
comment on function notify.channels_for(text, text, text, text[]) is 'The channels by which a recipient is told.';

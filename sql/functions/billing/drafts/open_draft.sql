-- The row of a draft, locked, for a step that is to be kept. The first step makes it; how many are begun within an hour is limited for each
-- workspace, so that a flood at one is none at another. Null: its day is over, or it was never begun.
create or replace function billing.open_draft(p_workspace_id text, p_id uuid, p_step integer) returns billing.drafts
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_most constant integer := 200;
  v_draft billing.drafts;
begin
  select d.* into v_draft from billing.drafts d
   where d.id = p_id and d.workspace_id = p_workspace_id and d.expires_at > clock_timestamp() for update;
  if v_draft.id is null and p_step = 1 then
    if (select count(*) from billing.drafts d
         where d.workspace_id = p_workspace_id and d.created_at > clock_timestamp() - interval '1 hour') >= v_most then
      perform headroom.fail('too_soon', 'Too many orders were begun here within the last hour.', null,
                            'Please try again later. Nothing was kept.');
    end if;
    insert into billing.drafts (id, workspace_id, expires_at) values (p_id, p_workspace_id, clock_timestamp() + interval '1 day')
    on conflict do nothing;
    select d.* into v_draft from billing.drafts d
     where d.id = p_id and d.workspace_id = p_workspace_id and d.expires_at > clock_timestamp() for update;
  end if;
  return v_draft;
end
$$;
comment on function billing.open_draft(text, uuid, integer) is 'The row of a draft, locked, made by its first step. Nullable: result.';

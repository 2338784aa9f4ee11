-- The row of a draft, locked, for a step that is to be kept. The first step makes it; how many are begun within an hour is limited for each
-- workspace, so that a flood at one is none at another. Beyond that the one that has rested longest and named no address yet is forgotten:
-- whoever begins hundreds of them keeps nobody else from ordering. Null: its day is over, or it was never begun.
create or replace function billing.open_draft(p_workspace_id text, p_id uuid, p_step integer) returns billing.drafts
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_most constant integer := 200;
  v_over bigint;
  v_forgotten bigint;
  v_draft billing.drafts;
begin
  select d.* into v_draft from billing.drafts d
   where d.id = p_id and d.workspace_id = p_workspace_id and d.expires_at > clock_timestamp() for update;
  if v_draft.id is null and p_step = 1 then
    select count(*) - v_most + 1 into v_over from billing.drafts d
     where d.workspace_id = p_workspace_id and d.created_at > clock_timestamp() - interval '1 hour';
    delete from billing.drafts d where d.id in (
      select o.id from billing.drafts o
       where o.workspace_id = p_workspace_id and o.created_at > clock_timestamp() - interval '1 hour' and o.address_mark is null
       order by o.updated_at limit greatest(v_over, 0) for update skip locked);
    get diagnostics v_forgotten = row_count;
    if v_forgotten < v_over then
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

-- The draft of a token, with its row locked, for a change. The first step makes the row. Coming by the link of the mail proves the address.
--
-- Each spender may have a limited number of drafts that were not mailed yet; beyond it, their own least recently used draft is deleted. So
-- everyone can begin, and nobody's draft is deleted because of somebody else's.
create or replace function billing.open_draft(
  p_workspace_id text, p_token text, p_step integer, out kind text, out id uuid, out draft billing.drafts
)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_max constant integer := 20;
  v_found record := billing.find_draft(p_workspace_id, p_token);
  v_spender bytea;
begin
  id := v_found.id;
  perform from billing.drafts d
    where d.id = open_draft.id and d.workspace_id = p_workspace_id and d.expires_at > clock_timestamp() for update;
  if not found and p_step = 1 then
    v_spender := billing.spender(p_workspace_id, id);
    delete from billing.drafts d where d.id in (
      select o.id from billing.drafts o
       where o.workspace_id = p_workspace_id and o.spender = v_spender and o.address_mark is null
       order by o.updated_at desc offset v_max - 1 for update skip locked);
    insert into billing.drafts (id, workspace_id, spender, expires_at)
    values (id, p_workspace_id, v_spender, clock_timestamp() + interval '1 day')
    on conflict do nothing;
    perform from billing.drafts d where d.id = open_draft.id for update;
  end if;
  -- Another window may have changed the address, or proven it, while this one waited for the row.
  v_found := billing.find_draft(p_workspace_id, p_token);
  kind := v_found.kind;
  draft := v_found.draft;
  if kind = 'proof' and draft.proven_at is null then
    draft := billing.prove_draft(draft);
  end if;
end
$$;
comment on function billing.open_draft(text, text, integer)
  is 'The draft of a token of the wizard, locked, made by its first step. Nullable: draft.';

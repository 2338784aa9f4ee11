-- Refuses a callback that was signed correctly and is wrong otherwise. It is recorded first, and an exception would undo that, so the
-- answer carries the status. A workspace whose runs keep sending nonsense cannot fill the table: beyond a thousand an hour, callbacks are
-- answered and not kept.
create or replace function provisioning.refuse_callback(
  p_workspace_id text, p_id uuid, p_job_id uuid, p_code text, p_message text, p_facts text
) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if (select count(*) from (select from provisioning.callbacks c
                             where c.workspace_id = p_workspace_id and c.outcome = 'refused' and c.received_at > now() - interval '1 hour'
                             limit 1000) x) < 1000 then
    insert into provisioning.callbacks (workspace_id, id, job_id, outcome, refusal)
    values (p_workspace_id, coalesce(p_id, gen_random_uuid()), p_job_id, 'refused', left(concat_ws(': ', p_code, p_facts), 300))
    on conflict do nothing;
  end if;
  return jsonb_build_object(
    'status', (select r.status from headroom.refusals() r where r.code = p_code), 'code', p_code, 'message', p_message,
    'details', concat_ws(': ', p_code, p_facts), 'hint', 'Nothing was changed.', 'go_on', false);
end
$$;
comment on function provisioning.refuse_callback(text, uuid, uuid, text, text, text)
  is 'Records a refused callback and returns the answer to it. Nullable: p_id, p_job_id, p_facts.';

-- Receives GitHub's reports of workflow runs, as the raw body: an HMAC over the bytes. GitHub signs no time and sends nothing twice, so a
-- delivery is identified by the digest of its bytes, which any replay repeats; GitHub's own delivery id is not signed.
create or replace function public.handle_github_webhook(text) returns json
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_headers jsonb := headroom.request_headers();
  v_kind text := coalesce(left(v_headers ->> 'x-github-event', 100), 'unknown');
  v_sent jsonb;
  v_id text;
  v_outcome text;
begin
  perform inbound.require_signature('github', $1);
  v_sent := inbound.parse_json($1);
  v_id := encode(sha256(convert_to($1, 'UTF8')), 'hex');
  insert into inbound.receipts (provider, receipt_id, kind, payload)
  values ('github', v_id, v_kind, jsonb_strip_nulls(jsonb_build_object(
            'delivery', left(v_headers ->> 'x-github-delivery', 64), 'action', left(v_sent ->> 'action', 40),
            'run_id', left(v_sent #>> '{workflow_run,id}', 20), 'repository', left(v_sent #>> '{repository,full_name}', 200))))
  on conflict do nothing;
  if not found then
    return json_build_object('received', true, 'new', false);
  end if;
  v_outcome := case when v_kind = 'workflow_run' then inbound.github_handle(v_sent) else 'ignored' end;
  update inbound.receipts d set outcome = v_outcome where d.provider = 'github' and d.receipt_id = v_id;
  return json_build_object('received', true, 'new', true);
end
$$;
comment on function public.handle_github_webhook(text) is 'Receives GitHub''s reports of workflow runs, as the raw body.';

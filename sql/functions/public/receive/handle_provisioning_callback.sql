-- Receives what runs report, as the raw body: an HMAC over the time and the bytes, under the secret of the workspace that the body
-- names. A callback that is signed correctly but wrong otherwise is recorded, and answered with its own status (response.status).
create or replace function public.handle_provisioning_callback(text) returns json
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_stamp record := inbound.require_stamp('provisioning', octet_length($1));
  v_sent jsonb := inbound.parse_json($1);
  v_workspace_id text := coalesce(substring(v_sent ->> 'workspace' from '^[a-z0-9][a-z0-9-]{0,62}$'), '');
  v_answer jsonb;
begin
  if provisioning.signed_by_workspace(v_workspace_id, convert_to('v1:' || v_stamp.signed_at || ':' || $1, 'UTF8'),
                                      decode(v_stamp.signatures[1], 'hex')) is not true then
    perform headroom.fail('bad_signature', 'The signature of the callback is wrong.', null,
      'Sign "v1:<time>:<body>" with the workspace''s callback secret. Nothing was changed.');
  end if;
  v_answer := provisioning.receive_callback(v_workspace_id, v_sent);
  if v_answer ? 'status' then
    perform set_config('response.status', v_answer ->> 'status', true);
  end if;
  if v_answer ? 'retry_after' then
    perform set_config('response.headers', format('[{"Retry-After": "%s"}]', v_answer ->> 'retry_after'), true);
  end if;
  return v_answer::json;
end
$$;
comment on function public.handle_provisioning_callback(text) is 'Receives what a run reports, as the raw body, and answers the run.';

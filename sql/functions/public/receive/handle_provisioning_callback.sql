-- What runs report comes in here, as the raw body: an HMAC over the time and the bytes, under the secret of the workspace that the body
-- names. What was signed rightly and is wrong otherwise is written down, and answered with its own status (response.status).
create or replace function public.handle_provisioning_callback(text) returns json
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_headers jsonb := headroom.request_headers();
  v_stamp text := v_headers ->> 'x-headroom-timestamp';
  v_signature text := v_headers ->> 'x-headroom-signature';
  v_problem text := inbound.callback_stamp_problem(v_stamp, v_signature);
  v_sent jsonb;
  v_workspace_id text;
  v_answer jsonb;
begin
  if octet_length($1) > 16384 then
    perform headroom.fail('payload_too_large', 'A callback has at most 16384 bytes.', null, 'Nothing was changed.');
  end if;
  if v_problem is null then
    v_sent := inbound.parse_json($1);
    v_workspace_id := substring(v_sent ->> 'workspace' from '^[a-z0-9][a-z0-9-]{0,62}$');
    if not provisioning.signed_by_workspace(coalesce(v_workspace_id, ''), convert_to('v1:' || v_stamp || ':' || $1, 'UTF8'),
                                            decode(substr(v_signature, 4), 'hex')) then
      v_problem := 'The signature of the callback is wrong.';
    end if;
  end if;
  if v_problem is not null then
    perform headroom.fail('bad_signature', v_problem, null,
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

-- Makes the valid link of a request, without the secret part, which is computed when the link is sent and never stored.
create or replace function capacity.new_confirmation_token(p_request_id text, p_expires_at timestamptz) returns uuid
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_id uuid := gen_random_uuid();
begin
  insert into capacity.confirmation_tokens (id, request_id, expires_at) values (v_id, p_request_id, p_expires_at);
  return v_id;
end
$$;
comment on function capacity.new_confirmation_token(text, timestamptz)
  is 'The id of a new single-use confirmation token; a request has one valid one at most.';

-- The payload of an event as the log keeps it: free text is stored separately, and its hash takes its place. The log never changes, and
-- must say the same after the words were erased.
create or replace function capacity.store_free_texts(p_request_id text, p_payload jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_kept jsonb := p_payload - '{reason,error}'::text[];
  v_field text;
begin
  foreach v_field in array array['reason', 'error'] loop
    if nullif(p_payload -> v_field, 'null') is not null then
      v_kept := v_kept || jsonb_build_object(v_field || '_hash',
                                             encode(capacity.put_free_text(p_request_id, p_payload -> v_field), 'hex'));
    end if;
  end loop;
  return v_kept;
end
$$;
comment on function capacity.store_free_texts(text, jsonb) is 'Replaces the free text of a payload by its salted hashes.';

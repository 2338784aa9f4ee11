-- The words for a hash in the log, or a note that they were erased. Strict: where nobody wrote anything, nothing is looked up.
create or replace function capacity.free_text(p_request_id text, p_hash bytea) returns text
language plpgsql stable strict set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
begin
  return (select coalesce(t.content #>> '{}', '(erased)') from capacity.free_texts t
           where t.request_id = p_request_id and t.hash = p_hash);
end
$$;
comment on function capacity.free_text(text, bytea) is 'What somebody wrote, by its hash; "(erased)" once it was erased.';

-- Compares heads that were kept elsewhere with the log: an attacker who rewrites a whole chain, hashes and all, cannot make it end in the
-- hash recorded before. Later events do no harm: the hash is looked up by the number that it had.
create or replace function capacity.verify_heads(p_request_ids text[], p_versions integer[], p_hashes text[])
returns table (invariant text, code text, subject text, detail text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select 'I2', case when e.request_id is null then 'head_missing' else 'history_rewritten' end, format('%s#%s', k.id, k.version),
         case when e.request_id is null then 'this event is on record, but is missing from the log'
              else 'its hash is not the one on record' end
    from unnest(p_request_ids, p_versions, p_hashes) k(id, version, hash)
    left join capacity.events e on e.request_id = k.id and e.seq = k.version
   where encode(e.hash, 'hex') is distinct from k.hash;
end
$$;
comment on function capacity.verify_heads(text[], integer[], text[]) is 'Heads on record that the log no longer has.';

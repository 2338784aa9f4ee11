-- Stores a person's words apart from the log, where they can be erased, and returns the salted hash that replaces them in the log. A hash
-- whose salt is gone cannot confirm a guess.
create or replace function capacity.put_free_text(p_request_id text, p_content jsonb) returns bytea
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_salt uuid := gen_random_uuid();
  v_hash bytea := sha256(uuid_send(v_salt) || convert_to(p_content::text, 'UTF8'));
begin
  insert into capacity.free_texts (request_id, hash, salt, content) values (p_request_id, v_hash, v_salt, p_content);
  return v_hash;
end
$$;
comment on function capacity.put_free_text(text, jsonb)
  is 'Stores words of a person apart from the log, and returns the hash that stands for them.';

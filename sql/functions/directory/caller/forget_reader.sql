-- Makes the next check of who reads look it up again. A trigger of every table that the answer is read from, so that a transaction sees its
-- own changes of the directory, whichever function made them.
create or replace function directory.forget_reader() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('headroom.reader_made_from', '', true), set_config('headroom.reader', '', true);
  return null;
end
$$;
comment on function directory.forget_reader() is 'Trigger: the directory changed, so who reads is looked up again.';

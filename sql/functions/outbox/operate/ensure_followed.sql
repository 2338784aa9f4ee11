-- Has layers above told of each row of a stream without order that was delivered or skipped. For the migrator's registrations; it costs
-- each settle a call, so only a stream is followed of whose rows somebody keeps what became of them.
create or replace function outbox.ensure_followed(p_stream text) returns void
language sql volatile set search_path = pg_catalog, pg_temp
as $$
  update outbox.streams s set followed = true where s.name = p_stream and not s.followed;
$$;
comment on function outbox.ensure_followed(text) is 'Has layers above told what becomes of the rows of a stream.';

-- Where, when and how a row of outbox.enqueue_many() is to be sent, in the form that outbox.add_row() uses. Only for repeats, which are
-- few: a call takes longer than building the array inline.
create or replace function outbox.terms_of(p_row jsonb) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_array(r.rail, r.key, coalesce(r.priority, 5), r.coalesce_key, r.destination, extract(epoch from r.expires_at),
                           r.captures, r.binds, extract(epoch from r.not_before))
    from jsonb_to_record(p_row) r(rail text, key text, priority integer, coalesce_key text, destination text, expires_at timestamptz,
                                  captures jsonb, binds jsonb, not_before timestamptz);
$$;
comment on function outbox.terms_of(jsonb) is 'What decides where, when and how a row is sent.';

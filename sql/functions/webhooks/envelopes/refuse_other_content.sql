-- Refuses an event that was published before with different content.
create or replace function webhooks.refuse_other_content(p_known webhooks.envelopes) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  perform headroom.fail('idempotency_conflict',
    format('Event "%s" of source "%s" was published with other content.',
           left(p_known.payload ->> 'id', 80), left(p_known.payload ->> 'source', 80)),
    format('the first one is %s', p_known.id), 'Publish the same envelope again, or give a new event a new id. Nothing was changed.');
end
$$;
comment on function webhooks.refuse_other_content(webhooks.envelopes) is 'Refuses an event that was published with different content.';

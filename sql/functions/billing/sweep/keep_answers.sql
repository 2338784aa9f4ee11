-- Hook of outbox.captured: stores what Stripe answered for a later transaction. Settling holds lanes, so nothing else is touched here: the
-- customer can reach a page immediately, and the sweep does the rest.
create or replace function billing.keep_answers(p_captures jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  insert into billing.sessions (checkout_id, session_id, url, expires_at)
  select split_part(c.name, ':', 2)::uuid, c.value ->> 'id', c.value ->> 'url', to_timestamp(billing.seconds_in(c.value -> 'expires_at'))
    from jsonb_to_recordset(p_captures) c(stream text, rail text, name text, value jsonb)
   where c.stream = 'billing' and c.rail = 'stripe' and c.name ~ '^session:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
     and c.value ->> 'object' = 'checkout.session' and c.value ->> 'id' ~ '^[A-Za-z0-9_]{1,200}$'
     and c.value ->> 'url' ~ '^https?://' and length(c.value ->> 'url') <= 2000 and billing.seconds_in(c.value -> 'expires_at') is not null
  on conflict do nothing;
  insert into billing.sightings (outbox_key, object)
  select c.stream || '/' || c.key, c.value
    from jsonb_to_recordset(p_captures) c(stream text, key text, name text, value jsonb, rail text, outbox_id uuid)
   where c.rail = 'stripe'
     -- Refunds of earlier versions are in a stream that others write to as well: only rows that a refund of ours names are read.
     and (c.stream in ('billing', 'refunds', 'subscriptions')
          or c.stream = 'payments' and exists (select from billing.refunds f where f.outbox_id = c.outbox_id))
     and c.name ~ '^(session:|ended:|refund:|seen$|page$|subscription$)'
     and jsonb_typeof(c.value) in ('object', 'array');
  -- These contain a page's address and the customer's id at Stripe: they are kept only here, where an erasure finds them.
  perform outbox.forget_captures(c.stream, c.key, array_agg(c.name))
     from jsonb_to_recordset(p_captures) c(stream text, key text, name text)
    where c.stream = 'billing' and c.name ~ '^(session:|ended:|seen$|page$)' group by c.stream, c.key;
  return null;
end
$$;
comment on function billing.keep_answers(jsonb) is 'Keeps the answers of Stripe. Nullable: result.';

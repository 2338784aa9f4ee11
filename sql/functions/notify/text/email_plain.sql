-- The mail as plain text, from the same blocks as its HTML. Links show their address.
create or replace function notify.email_plain(p_blocks jsonb) returns text
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select coalesce(string_agg(
           concat_ws(E'\n', coalesce(b ->> 'text', b ->> 'heading', b ->> 'small'),
                     coalesce(coalesce(b ->> 'button', b ->> 'link') || ': ', '') || (b ->> 'url')), E'\n\n' order by n) || E'\n', '')
    from jsonb_array_elements(p_blocks) with ordinality e(b, n);
$$;
comment on function notify.email_plain(jsonb) is 'A mail as plain text, from its blocks.';

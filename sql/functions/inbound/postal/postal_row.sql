-- The row that Postal tells of: our tag, or for a mail that Postal took by SMTP the first part of the Message-ID, which is the row's id.
-- Null for a mail of somebody else's.
create or replace function inbound.postal_row(p_message jsonb) returns uuid
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select case when p_message ->> 'tag' ~ (v.uuid || '$') then (p_message ->> 'tag')::uuid
              when p_message ->> 'message_id' ~ (v.uuid || '@') then split_part(p_message ->> 'message_id', '@', 1)::uuid end
    from (values ('^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')) v(uuid);
$$;
comment on function inbound.postal_row(jsonb) is 'The row that a message of Postal''s is about. Nullable: p_message, result.';

-- Whether any of an endpoint's topics matches an event. A topic is an event's type, the beginning of one (`capacity.request.*`), or `*`.
-- Applications name their types as they like, so a topic may also put the stream in front: `transfers.*` matches every event of that
-- stream, whatever its type.
create or replace function webhooks.topic_matches(p_topics text[], p_stream text, p_type text) returns boolean
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from unnest(p_topics) t(topic)
     where t.topic in ('*', p_type, p_stream || '.' || p_type)
        or right(t.topic, 2) = '.*' and (starts_with(p_type, left(t.topic, -1))
                                         or starts_with(p_stream || '.' || p_type, left(t.topic, -1))));
$$;
comment on function webhooks.topic_matches(text[], text, text) is 'Whether an event of this stream and type is one of these topics.';

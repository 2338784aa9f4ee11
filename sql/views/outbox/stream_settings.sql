-- Streams, and how long their archive is kept, for the layers above, which do not read the engine's tables.
create or replace view outbox.stream_settings as
select s.stream_id, s.name, s.ordered, s.on_dead, s.carries_money, s.max_payload_bytes, c.name as retention, c.retain_days
  from outbox.streams s join outbox.retention_classes c on c.class_id = s.class_id;
comment on view outbox.stream_settings is 'Streams and their settings, as other schemas may read them.';

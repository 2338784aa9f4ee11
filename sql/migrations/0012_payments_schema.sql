-- run as: migrator
-- The payment outbox has no tables of its own: it is views and functions over the engine.
create schema payments authorization headroom_owner;
comment on schema payments is 'The payment outbox: named views and functions over the delivery engine.';

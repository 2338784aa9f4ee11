-- run as: migrator
-- The ledger's events have no table of their own: they are published events of one stream, under the ledger's name.
create schema ledger authorization headroom_owner;
comment on schema ledger is 'The ledger''s events: a named view over the delivery engine.';

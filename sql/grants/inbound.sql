-- Grants of the schema `inbound`: everything is revoked first, then exactly this is granted. Only the owner writes
-- tables: the definer functions are the only way in. Functions that are not named here are internal and run only inside those.
select headroom.close_schema('inbound');

-- Control and auditors read what was received.
grant usage on schema inbound to headroom_control, headroom_auditor;
grant select on all tables in schema inbound to headroom_control, headroom_auditor;

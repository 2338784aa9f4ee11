-- What is said anew of the same object is a finding of its own: one that somebody has looked at must not keep people from hearing of the
-- next.
alter table billing.findings drop constraint findings_kind_stripe_id_key;
alter table billing.findings add constraint findings_said_once unique (kind, stripe_id, said);

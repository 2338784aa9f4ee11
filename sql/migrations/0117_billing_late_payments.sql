-- What is done every hour for payments of the last days reads those, however many there were before.
create index payments_recorded on billing.payments (recorded_at);

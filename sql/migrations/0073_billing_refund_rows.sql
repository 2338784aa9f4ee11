-- Whose refund a row of the outbox is, is asked of what Stripe answers in a stream that others write too: without an index of the rows, all
-- refunds were read for each.
create index refunds_row on billing.refunds (outbox_id) where outbox_id is not null;

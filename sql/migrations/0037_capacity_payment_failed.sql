-- A customer whose payment failed is told by mail, with the link to pay again: a kind of notice of its own.
alter table capacity.notices drop constraint notices_kind_check;
alter table capacity.notices add constraint notices_kind_check
  check (kind in ('warning', 'reminder', 'late', 'nudge', 'note', 'unasked', 'address', 'link', 'job', 'payment', 'payment_failed'));

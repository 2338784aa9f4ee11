-- The customer who was not asked: said, mended, and asked again.

-- That the customer was not asked, an address that was added to a request, and a link that was sent again are notices: they change no state.
alter table capacity.notices drop constraint notices_kind_check;
alter table capacity.notices add constraint notices_kind_check
  check (kind in ('warning', 'reminder', 'late', 'nudge', 'note', 'unasked', 'address', 'link'));
comment on column capacity.notices.body_hash is 'Of the body in free_texts: the words of a note, or the address that a notice of kind address added.';
comment on table capacity.notices is 'What is said about a request without changing it. Append-only; side effects have instruction <request>!<id>.';

-- A link that went to an address which was replaced counts no more. The log names the first token of a request for ever; one at most is in force.
alter table capacity.confirmation_tokens drop constraint confirmation_tokens_request_id_key;
alter table capacity.confirmation_tokens add column revoked_at timestamptz;
create unique index confirmation_tokens_in_force on capacity.confirmation_tokens (request_id) where revoked_at is null;
comment on column capacity.confirmation_tokens.revoked_at is 'When the customer''s address was replaced, and with it the link.';

-- It asks for the customer too from now on.
drop function if exists public.preview_capacity_request(text, text, text, text, integer, text, numeric, text, text);

-- Every code with which the database refuses, and its HTTP status. This list is the only one: `npm run gen` writes src/db/refusals.gen.ts
-- from it. The first code of a status is used for that status when nothing more is known.
create or replace function headroom.refusals() returns table (code text, status integer, meaning text)
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  values
    ('invalid_input', 400, 'a value is missing, malformed or out of range'),
    ('invalid_payload', 400, 'the payload of an event does not fit its type'),
    ('unknown_stream', 400, 'no stream has this name'),
    ('unknown_rail', 400, 'no rail has this name'),
    ('not_signed_in', 401, 'nobody is signed in'),
    ('bad_signature', 401, 'a signature is missing, wrong or too old'),
    ('not_allowed', 403, 'the caller may not do this'),
    ('append_only', 403, 'recorded data is never changed'),
    ('not_found', 404, 'it does not exist, or not for this caller'),
    ('conflict', 409, 'the current state does not allow it'),
    ('stale_version', 409, 'it was changed since the caller read it'),
    ('invalid_transition', 409, 'the request is in another state'),
    ('idempotency_conflict', 409, 'the idempotency key was used with other content'),
    ('deadline_passed', 409, 'the deadline has passed'),
    ('payment_due', 409, 'the payment is the confirmation, and nothing else can confirm it'),
    ('already_used', 409, 'it can be used only once, and has been used'),
    ('gone', 410, 'it existed and has ended'),
    ('payload_too_large', 413, 'the payload exceeds the limit'),
    ('nobody_can_approve', 422, 'no member may approve the request'),
    ('too_soon', 429, 'the caller must wait'),
    ('not_configured', 503, 'an operator must set something up first'),
    ('try_again', 503, 'the problem is temporary: the same call may succeed')
$$;
comment on function headroom.refusals() is 'Every code with which the database refuses, with its HTTP status and meaning.';

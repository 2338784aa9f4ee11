-- Both answer in one value now. Their results have another type, which a replacement may not change.
drop function if exists outbox.places_of(uuid[]);
drop function if exists outbox.last_lines(uuid[]);
drop function if exists outbox.place_of_row(outbox.payloads, outbox.attempts);

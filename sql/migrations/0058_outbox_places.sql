-- Places are asked for many rows at once, so that the archive is asked once for all of them.
drop function if exists outbox.place_of(uuid);
drop function if exists outbox.place_of_row(outbox.payloads, outbox.streams);

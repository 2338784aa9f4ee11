-- What may have arrived twice is sent no third time: the verdict asks whether an outcome was unknown before.
drop function if exists outbox.verdict(outbox.streams, text, integer, text);

-- Messages are put together as data: nothing writes JSON as text any more.
drop function if exists headroom.json_text(text);

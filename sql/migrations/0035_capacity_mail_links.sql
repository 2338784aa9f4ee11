-- The link in a mail says what it is for: to answer, or to pay.
drop function if exists capacity.email_letter(text, text, text[]);
drop function if exists capacity.email_html(text[]);

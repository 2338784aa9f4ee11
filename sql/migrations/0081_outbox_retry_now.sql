-- An operator may have a row tried at once that waits for its next try; that stands in the archive beside the tries.
alter type outbox.attempt_state add value if not exists 'RETRY_NOW';

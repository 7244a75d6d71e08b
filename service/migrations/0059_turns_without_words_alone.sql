-- The index over tenants and words answers all that this one did. By itself: a transaction that had just made that one would hold up
-- whoever writes turns, and wait for those of them that have read some.
drop index transcript_turns_search;

-- How far a request to erase a number has come: the step that it is at, and the key of the last row that was looked at. Null before
-- the first one.
alter table number_erasures add column progress jsonb;

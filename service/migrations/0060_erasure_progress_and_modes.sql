-- How far a request to erase a number has come: the step that it is at, and the key of the last row that was looked at. Null before
-- the first one.
alter table number_erasures add column progress jsonb;

-- How a simulation tries its agent: by its chat model, or by calling it. Those that there are have been in text.
alter table simulations add column mode text not null default 'text' check (mode in ('text', 'voice'));

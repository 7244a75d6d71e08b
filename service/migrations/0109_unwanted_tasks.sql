-- A task that somebody is at while its number is listed as not to be called is left to them. When that was is noted, so that it is
-- cancelled, as the others were at once, when they give it back.
alter table callback_tasks add column unwanted_at timestamptz(3);

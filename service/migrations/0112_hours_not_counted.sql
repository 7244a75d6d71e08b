-- When an hour could not be counted: until it is, it comes behind the others, so that one that takes longer than a statement may does not
-- keep all of them from being counted for good.
alter table call_changes add column failed_at timestamptz(3);

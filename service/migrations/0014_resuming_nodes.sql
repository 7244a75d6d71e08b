-- Whether the node brings calls back that lost their stream. The version before this one does, too, but did not say so: nothing is
-- handed over to it.
alter table nodes add column resumes boolean not null default false;

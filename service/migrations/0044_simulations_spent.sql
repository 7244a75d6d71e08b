-- Some of what a run took has no known price: what cost_usd says is a part of what it cost.
alter table simulation_runs add column has_unpriced boolean not null default false;

-- Those of a tenant that are not over, which are counted before another one is taken.
create index simulations_open on simulations (tenant_id) where status in ('queued', 'running');

-- Those of one version, newest first.
create index simulations_of_version on simulations (tenant_id, agent_version_id, created_at desc, id desc);

-- Those that are over, to be deleted by their age.
create index simulations_over on simulations (tenant_id, completed_at) where completed_at is not null;

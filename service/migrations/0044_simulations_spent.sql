-- Some of what a run took has no known price: what cost_usd says is a part of what it cost.
alter table simulation_runs add column has_unpriced boolean not null default false;

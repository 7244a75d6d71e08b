-- Carriers that asked what comes next for a call of ours that had lost its stream, and were told to open another.
create table call_resumes (
  call_sid    text primary key references call_directory on delete cascade,
  tenant_id   text not null references tenants on delete cascade,
  times       integer not null,        -- how often, since
  since       timestamptz(3) not null,
  promised_at timestamptz(3)           -- the newest of them; null once its stream has come
);

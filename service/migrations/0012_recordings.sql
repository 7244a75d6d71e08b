-- The version before does not name the column when it opens a session.
alter table voice_sessions add column has_recording boolean not null default false;

-- One row for each stream of a recorded call; the audio itself lies in DATA_DIR/recordings.
create table recordings (
  tenant_id   text not null,
  session_id  uuid not null,
  part        integer not null,        -- the epoch of the stream
  node_id     uuid not null,           -- the node that writes, or wrote, the file
  path        text not null,           -- below DATA_DIR/recordings
  state       text not null check (state in ('recording', 'ready', 'lost')),
  started_at  timestamptz(3) not null, -- of its first sample
  duration_ms integer,
  bytes       integer,
  primary key (tenant_id, session_id, part),
  foreign key (tenant_id, session_id) references voice_sessions on delete cascade
);
create index recordings_unfinished on recordings (started_at) where state = 'recording';

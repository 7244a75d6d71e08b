-- What agents say first, spoken ahead of their calls.
create table clips (
  tenant_id  text not null references tenants on delete cascade,
  clip_key   text not null,        -- SHA-256 of the words, the voice, its speed and the model, in hex
  audio      bytea not null,       -- G.711 µ-law, 8 kHz, mono
  created_at timestamptz(3) not null,
  primary key (tenant_id, clip_key)
);
create index clips_newest on clips (tenant_id, created_at desc, clip_key desc);

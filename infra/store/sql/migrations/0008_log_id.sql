-- The name of this log, which a backup of it has too: by it somebody outside knows which log it is that went back.
alter table store.layout add column log_id uuid not null default gen_random_uuid();

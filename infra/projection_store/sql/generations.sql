select name, version, generation, schema_name as schema, state, serving, served_at is not null as served,
    ddl_digest as digest, refused
from projection.generation
order by name, version, generation

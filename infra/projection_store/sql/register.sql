insert into projection.generation (name, version, generation, schema_name, ddl_digest, state, serving, served_at)
values (%(name)s, %(version)s, %(generation)s, %(schema)s, %(digest)s, %(state)s, %(serving)s,
    case when %(serving)s then now() end)

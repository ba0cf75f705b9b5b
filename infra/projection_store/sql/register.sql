insert into projection.version (name, version, schema_name, ddl_digest, serving)
select %(name)s, %(version)s, %(schema)s, %(digest)s,
    not exists (select from projection.version v where v.name = %(name)s and v.serving)

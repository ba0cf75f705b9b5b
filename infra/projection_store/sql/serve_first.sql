update projection.generation g
set serving = true, served_at = now()
where g.schema_name = $1 and not exists (select from projection.generation o where o.name = g.name and o.serving)

-- The one that serves, and after it those that could stand in for it.
select schema_name, version
from projection.generation
where name = %(name)s and (serving or state = 'following' and served_at is not null)
order by serving desc, served_at desc

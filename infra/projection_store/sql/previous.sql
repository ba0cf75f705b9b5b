-- The generation that served before the one that does.
select schema_name from projection.generation
where name = %s and state = 'following' and not serving and retired_at is not null
order by retired_at desc
limit 1

-- Positions and balances in one statement, so that both are of the same moment.
select '' as account, '' as currency, c.part, c.pos as amount
from projection.checkpoint c
join projection.version v on v.name = c.name and v.version = c.version and v.serving
where c.name = %(name)s
union all
select account, currency, part, balance
from {schema}.balance
